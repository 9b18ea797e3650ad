/** The state of the chat page: rows from the history and from each event since. */
import type { ChatEvent, ChatNeed, ChatState, ChatTrust } from '../../model/api/chat.ts'
import type { MessageFlags, MessageItem, Showing, ToolCallItem } from '../../model/api/message.ts'

export type ChatRow =
  | {
      readonly kind: 'message'
      readonly key: string
      readonly message: MessageItem
      readonly interrupted: boolean
      /** Summary of a call in Japanese; absent if it is the same in both languages. */
      readonly gist_ja?: string
    }
  /** Still growing. */
  | { readonly kind: 'stream'; readonly key: string; readonly message: MessageItem }
  | (RowEvent & { readonly key: string })

/** Events with their own row, in order of arrival. */
type RowEvent = Extract<
  ChatEvent,
  { kind: 'notice' | 'error' | 'output' | 'checkpoint' | 'compact_proposed' | 'compacted' | 'retry' | 'ended' }
>

export interface ConsentRequest {
  readonly id: string
  readonly name: string
  readonly need: ChatNeed
}

type ChatActivity = { readonly kind: 'thinking' | 'compacting' } | { readonly kind: 'calling'; readonly name: string }

export interface ChatView {
  readonly rows: readonly ChatRow[]
  readonly earlier: number
  readonly state: ChatState | undefined
  /** In the order in which they are answered. */
  readonly asking: readonly ConsentRequest[]
  readonly trusting: { readonly id: string; readonly trust: ChatTrust } | undefined
  readonly work: ChatActivity | undefined
  readonly used: { readonly input: number; readonly output: number; readonly estimated: boolean } | undefined
  readonly isClosed: boolean
  readonly count: number
}

export const EMPTY_CHAT_VIEW: ChatView = {
  rows: [],
  earlier: 0,
  state: undefined,
  asking: [],
  trusting: undefined,
  work: undefined,
  used: undefined,
  isClosed: false,
  count: 0,
}

const IDLE = { work: undefined, asking: [], trusting: undefined } as const

export function applyChatEvent(view: ChatView, event: ChatEvent): ChatView {
  switch (event.kind) {
    case 'hello': {
      const { reset, state, messages, earlier } = event
      if (!reset) return { ...view, state, isClosed: false }
      const rows = messages.map(
        (message): ChatRow => ({ kind: 'message', key: message.id, message, interrupted: false }),
      )
      return { ...EMPTY_CHAT_VIEW, rows, earlier, state, used: view.used, count: view.count }
    }
    case 'state':
      return { ...view, state: event.state, ...(!event.state.running && IDLE) }
    case 'said':
      return addRow(view, {
        kind: 'message',
        interrupted: false,
        message: makeMessage(view, 'prompt', { timestamp: event.at, segments: textSegments(event.text) }),
      })
    case 'started':
      return { ...view, work: { kind: 'thinking' } }
    case 'delta':
      return appendToStream(view, 'answer', event.text)
    case 'reasoning':
      return appendToStream(view, 'reasoning', event.text)
    case 'calling':
      return { ...view, work: { kind: 'calling', name: event.name } }
    case 'retry': {
      const rows = view.rows.filter(({ kind }) => kind !== 'stream')
      return addRow({ ...view, rows }, event)
    }
    case 'usage':
      return { ...view, used: { input: event.input, output: event.output, estimated: event.estimated } }
    case 'entry':
      return { ...settleStreams(view, event.interrupted !== null), work: undefined }
    case 'tool_asked': {
      const { command, summary_ja } = event.need
      const summary = command === undefined ? { gist_ja: summary_ja } : {}
      return addRow(settleStreams(view), {
        kind: 'message',
        interrupted: false,
        message: toolMessage(view, event),
        ...summary,
      })
    }
    case 'consent_needed': {
      const { id, name, need } = event
      return { ...view, asking: [...view.asking, { id, name, need }] }
    }
    case 'trust_needed':
      return { ...view, trusting: { id: event.id, trust: event.trust } }
    case 'consent_given': {
      const asking = view.asking.filter(({ id }) => id !== event.id)
      return { ...view, asking, trusting: view.trusting?.id === event.id ? undefined : view.trusting }
    }
    case 'tool_started':
      return view
    case 'tool_output':
      return updateCall(view, event.id, (call) => ({
        ...call,
        output: truncateOutput((call.output ?? '') + event.text),
      }))
    case 'tool_done': {
      const { status, output, ms: duration_ms } = event
      return updateCall(view, event.id, (call) => ({ ...call, status, output, duration_ms }))
    }
    case 'tools_cancelled':
      return event.ids.reduce((all, id) => updateCall(all, id, cancelCall), view)
    case 'compacting':
      return { ...view, work: { kind: 'compacting' } }
    case 'compacted':
      return addRow({ ...view, work: undefined }, event)
    case 'compact_proposed':
    case 'notice':
    case 'error':
    case 'output':
      return addRow(view, event)
    case 'checkpoint': {
      // Checkpoints of single tools are not in the sidebar.
      if (event.tag.includes('.')) return view
      // A later checkpoint with the same tag replaces the earlier one.
      const rows = view.rows.filter((row) => row.kind !== 'checkpoint' || row.tag !== event.tag)
      return addRow({ ...view, rows }, event)
    }
    case 'ended': {
      const settledView = { ...settleStreams(view, event.how !== 'answered'), work: undefined }
      return event.how === 'answered' ? settledView : addRow(settledView, event)
    }
    case 'edit':
      return view
    case 'closed':
      return { ...view, isClosed: true, ...IDLE }
  }
}

type RowWithoutKey = ChatRow extends infer Row ? (Row extends ChatRow ? Omit<Row, 'key'> : never) : never

const addRow = (view: ChatView, row: RowWithoutKey): ChatView => ({
  ...view,
  rows: [...view.rows, { ...row, key: `row ${view.count}` } as ChatRow],
  count: view.count + 1,
})

const textSegments = (text: string): MessageItem['segments'] => [
  { channel: 'input', type: 'text', format: 'markdown', text },
]

function makeMessage({ state, count }: ChatView, show: Showing, more: Partial<MessageItem>): MessageItem {
  const flags: MessageFlags = state && state.tangents.length > 0 ? { tangent: true } : {}
  return {
    id: `live ${count}`,
    offset: count,
    timestamp: new Date().toISOString(),
    role: show === 'prompt' ? 'user' : show === 'tool' ? 'tool' : 'assistant',
    source_type: show === 'tool' ? 'tool_call' : 'message',
    show,
    flags,
    segments: [],
    ...more,
  }
}

/** Maximum characters of one answer shown here; the reader shows all of them. */
const MAX_SHOWN_CHARACTERS = 100_000
const truncateOutput = (text: string): string =>
  text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)} …` : text

/** A streamed row grows until another row starts. */
function appendToStream(view: ChatView, show: 'answer' | 'reasoning', text: string): ChatView {
  const last = view.rows.at(-1)
  const isSame = last?.kind === 'stream' && last.message.show === show
  const previousText = isSame ? messageText(last.message) : ''
  if (previousText.length > MAX_SHOWN_CHARACTERS) return view
  const words = truncateOutput(previousText + text)
  const content = show === 'answer' ? { segments: textSegments(words) } : { reasoning: { text: words } }
  if (!isSame) return addRow(settleStreams(view), { kind: 'stream', message: makeMessage(view, show, content) })
  return { ...view, rows: [...view.rows.slice(0, -1), { ...last, message: { ...last.message, ...content } }] }
}

export const messageText = ({ show, segments, reasoning }: MessageItem): string =>
  show === 'reasoning' ? (reasoning?.text ?? '') : segments.map(({ text }) => text ?? '').join('\n\n')

function settleStreams(view: ChatView, interrupted = false): ChatView {
  if (!view.rows.some(({ kind }) => kind === 'stream')) return view
  const rows = view.rows.map(
    (row): ChatRow =>
      row.kind === 'stream' ? { kind: 'message', key: row.key, message: row.message, interrupted } : row,
  )
  return { ...view, rows }
}

function toolMessage(view: ChatView, { id, name, need }: ConsentRequest): MessageItem {
  const { command, diff, summary } = need
  const tool_call: ToolCallItem = {
    call_id: id,
    name,
    status: 'pending',
    gist: command ?? summary,
    ...(command !== undefined && { arguments_json: { command } }),
    ...(diff !== undefined && { diff }),
  }
  return makeMessage(view, 'tool', { tool_call })
}

const cancelCall = (call: ToolCallItem): ToolCallItem => ({ ...call, status: 'cancelled' })

/** The last call with this id: servers may reuse ids. */
function updateCall(view: ChatView, id: string, change: (call: ToolCallItem) => ToolCallItem): ChatView {
  const at = view.rows.findLastIndex((row) => row.kind === 'message' && row.message.tool_call?.call_id === id)
  const row = view.rows[at]
  if (row?.kind !== 'message' || !row.message.tool_call) return view
  const message = { ...row.message, tool_call: change(row.message.tool_call) }
  return { ...view, rows: view.rows.with(at, { ...row, message }) }
}

/** Splits growing text into paragraphs that will not change any more, and the rest. An open fence includes all that follows. */
export function splitSettledText(text: string): readonly [done: string, open: string] {
  let isFenced = false
  let end = 0
  for (const { 0: found, index } of text.matchAll(/^ {0,3}(?:```|~~~)|\n\n/gm)) {
    if (found !== '\n\n') isFenced = !isFenced
    else if (!isFenced) end = index
  }
  return end === 0 ? ['', text] : [text.slice(0, end), text.slice(end + 2)]
}
