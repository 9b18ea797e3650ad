/** Checks a stored conversation of Amazon Q CLI: whether the program loads it and its service accepts it. */
import { isUtf8 } from 'node:buffer'
import { readState } from '../../../conversation/codec/state.ts'
import {
  CONTEXT_ENTRY_START_HEADER,
  DUMMY_TOOL_NAME,
  MAX_CONVERSATION_STATE_HISTORY_LEN,
  MAX_CURRENT_WORKING_DIRECTORY_LEN,
  MAX_IMAGE_SIZE,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  MAX_USER_MESSAGE_SIZE,
  USER_ENTRY_START_HEADER,
} from '../../../conversation/limits.ts'
import type { AssistantMessage, AssistantToolUse, ImageBlock, UserMessage } from '../../../conversation/message.ts'
import { contentWithContext, promptOf, toolUseResultsOf, writeBlock } from '../../../conversation/message-text.ts'
import type { History, Tools } from '../../../conversation/record.ts'
import type { ConversationState } from '../../../conversation/state.ts'
import { isJsonObject } from '../../../lib/json/lossless.ts'
import { MAX_LINE_BYTES } from '../../../lib/lines.ts'
import { decodeUtf8 } from '../../../lib/text.ts'
import { type CheckFinding, FindingCollector } from '../../../model/check-finding.ts'
import { phrase } from '../../../model/phrase.ts'
import { byteLength } from '../../../model/token-estimate.ts'
import {
  AMAZON_Q_RULES,
  type AmazonQReport,
  type AmazonQRule,
  MAX_STORED_DESCRIPTION_BYTES,
  MAX_TOOL_NAME_LENGTH,
} from './rules.ts'

/** A file of `/save`, or the value of a row: one JSON value, which is held in memory. */
export async function* check(open: () => AsyncIterable<Buffer>): AsyncGenerator<CheckFinding<AmazonQRule>> {
  const findings = new FindingCollector(AMAZON_Q_RULES)
  const state = loadState(await readValue(open()), findings.report)
  if (state) checkState(state, findings.report)
  yield* findings.take()
}

/** Undefined when it is longer than `MAX_LINE_BYTES`. */
async function readValue(chunks: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > MAX_LINE_BYTES) return undefined
    pieces.push(Buffer.from(chunk))
  }
  return Buffer.concat(pieces)
}

function loadState(bytes: Buffer | undefined, report: AmazonQReport): ConversationState | undefined {
  if (!bytes)
    report(
      'loads',
      '$',
      phrase('It is longer than 128 MB and was not checked.', '128 MB を超えるため、中を調べません。'),
    )
  else if (!isUtf8(bytes)) report('utf8', '$')
  else {
    const read = readState(decodeUtf8(bytes), { mode: 'strict' })
    if (read.ok) return read.value
    report(
      'loads',
      read.path,
      phrase(`The program cannot load it: ${read.reason}.`, `プログラムが読み込めません: ${read.reason}`),
    )
  }
  return undefined
}

/** Leaves room for the next message, its answer and the context pair. */
const MAX_PAIRS = (MAX_CONVERSATION_STATE_HISTORY_LEN - 6) / 2

function checkState(state: ConversationState, report: AmazonQReport): void {
  if (state.conversation_id === '') report('conversation_id', '$.conversation_id')
  const listed = checkTools(state.tools, report)
  const check = (history: History, next: ConversationState['next_message'], path: string, nextPath: string): void => {
    if (history.length > MAX_PAIRS)
      report(
        'history_length',
        path,
        phrase(
          `It has ${history.length} pairs; beyond ${MAX_PAIRS}, the oldest are not sent.`,
          `${history.length} 組あります。${MAX_PAIRS} 組を超えると、古いものは送られません。`,
        ),
      )
    checkHistory(history, next, { path, nextPath, listed }, report)
  }
  check(state.history, state.next_message, '$.history', '$.next_message')
  const main = state.tangent_state
  if (main) {
    const path = '$.tangent_state.main'
    check(main.main_history, main.main_next_message, `${path}_history`, `${path}_next_message`)
  }
  if (state.transcript.length > MAX_CONVERSATION_STATE_HISTORY_LEN) report('transcript_length', '$.transcript')
}

const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_]*$/

const isToolName = (name: string): boolean => TOOL_NAME.test(name) && name.length <= MAX_TOOL_NAME_LENGTH

/** @returns the names of the tools. Undefined if none are listed; the program then fills them in on resume */
function checkTools(tools: Tools, report: AmazonQReport): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const [origin, list] of tools) {
    list.forEach(({ ToolSpecification: { name, description } }, at) => {
      const place = `$.tools[${JSON.stringify(origin)}][${at}]`
      if (!isToolName(name)) report('tool_name', `${place}.name`)
      if (name !== DUMMY_TOOL_NAME && names.has(name))
        report('tool_name', `${place}.name`, phrase('Two tools have this name.', '同じ名前のツールが 2 つあります。'))
      if (description === '' || byteLength(description) > MAX_STORED_DESCRIPTION_BYTES)
        report('tool_description', `${place}.description`)
      names.add(name)
    })
  }
  return names.size === 0 ? undefined : names
}

/** Whether the program finds the tool of an earlier use among its current tools. */
function isListedTool(name: string, original: string, listed: ReadonlySet<string>): boolean {
  if (listed.has(name) || listed.has(original)) return true
  return [...listed].filter((one) => one !== DUMMY_TOOL_NAME && one.endsWith(name)).length === 1
}

interface HistoryLocation {
  readonly path: string
  readonly nextPath: string
  /** Names of the tools that the conversation lists; undefined if it lists none. */
  readonly listed: ReadonlySet<string> | undefined
}

function checkHistory(
  history: History,
  next: UserMessage | null,
  { path, nextPath, listed }: HistoryLocation,
  report: AmazonQReport,
): void {
  const ids = new Set<string>()
  const unlisted = new Set<string>()
  let before: AssistantMessage | undefined
  let at = 0
  for (const { user, assistant } of history) {
    const place = `${path}[${at}]`
    checkUserMessage(user, `${place}.user`, report)
    checkPosition(user, before, at === 0, `${place}.user.content`, report)
    toolUsesIn(assistant).forEach((use, number) => {
      const here = `${place}.assistant.ToolUse.tool_uses[${number}]`
      checkToolUse(use, ids, here, report)
      if (!listed || unlisted.has(use.name) || isListedTool(use.name, use.orig_name, listed)) return
      unlisted.add(use.name)
      report('tool_listed', `${here}.name`)
    })
    before = assistant
    at++
  }
  if (!next) return
  checkUserMessage(next, nextPath, report)
  checkPosition(next, before, at === 0, `${nextPath}.content`, report)
}

const toolUsesIn = (assistant: AssistantMessage): readonly AssistantToolUse[] =>
  'ToolUse' in assistant ? assistant.ToolUse.tool_uses : []

function checkToolUse(
  { id, name, args }: AssistantToolUse,
  ids: Set<string>,
  place: string,
  report: AmazonQReport,
): void {
  if (id === '') report('use_id', `${place}.id`)
  else if (ids.has(id)) report('use_id_unique', `${place}.id`)
  ids.add(id)
  if (!isToolName(name)) report('tool_name', `${place}.name`)
  if (!isJsonObject(args)) report('arguments_object', `${place}.args`)
}

/** @param before the answer before the message */
function checkPosition(
  user: UserMessage,
  before: AssistantMessage | undefined,
  isFirst: boolean,
  place: string,
  report: AmazonQReport,
): void {
  const results = toolUseResultsOf(user)
  const uses = before && 'ToolUse' in before ? before.ToolUse.tool_uses : undefined
  if (!results) {
    if (uses && uses.length > 0) report('uses_answered', place)
    return
  }
  if (isFirst) report('first_prompt', place)
  else if (!uses) report('results_position', place)
  else checkMatch(uses, results, place, report)
}

function checkMatch(
  uses: readonly AssistantToolUse[],
  results: readonly { readonly tool_use_id: string }[],
  place: string,
  report: AmazonQReport,
): void {
  const open = new Set(uses.map(({ id }) => id))
  if (open.size < uses.length)
    report(
      'results_match',
      place,
      phrase('Two tool uses before it have the same id.', '直前の呼び出しのうち 2 つが同じ ID です。'),
    )
  let unmatched = 0
  for (const { tool_use_id } of results) if (!open.delete(tool_use_id)) unmatched++
  if (unmatched > 0)
    report(
      'results_match',
      place,
      phrase(
        `${unmatched} results answer no tool use before it.`,
        `結果のうち ${unmatched} 件は、直前のどの呼び出しにも対応しません。`,
      ),
    )
  if (open.size > 0)
    report(
      'results_match',
      place,
      phrase(
        `${open.size} tool uses before it have no result.`,
        `直前の呼び出しのうち ${open.size} 件に結果がありません。`,
      ),
    )
}

/** Checks a user message on its own: sizes, emptiness, images. */
function checkUserMessage(message: UserMessage, place: string, report: AmazonQReport): void {
  const prompt = promptOf(message)
  const results = toolUseResultsOf(message)
  if (prompt !== undefined) checkPrompt(prompt, `${place}.content`, report)
  if (!results && contentWithContext(message) === '') report('prompt_empty', `${place}.content`)
  results?.forEach(({ content }, at) => {
    const size = content.reduce((sum, block) => sum + byteLength(writeBlock(block, () => {}) ?? ''), 0)
    if (size > MAX_TOOL_RESPONSE_SIZE)
      report(
        'result_size',
        `${place}.content`,
        phrase(
          `Result ${at + 1} has ${size} bytes; the limit is ${MAX_TOOL_RESPONSE_SIZE}.`,
          `結果 ${at + 1} は ${size} バイトです。上限は ${MAX_TOOL_RESPONSE_SIZE} バイトです。`,
        ),
      )
  })
  const directory = message.env_context.env_state?.current_working_directory ?? ''
  if (byteLength(directory) > MAX_CURRENT_WORKING_DIRECTORY_LEN)
    report('directory_size', `${place}.env_context.env_state.current_working_directory`)
  if (message.images) checkImages(message.images, `${place}.images`, report)
}

function checkPrompt(prompt: string, place: string, report: AmazonQReport): void {
  const size = byteLength(prompt)
  if (size > MAX_USER_MESSAGE_SIZE)
    report(
      'prompt_size',
      place,
      phrase(
        `The prompt has ${size} bytes; the limit is ${MAX_USER_MESSAGE_SIZE}.`,
        `依頼は ${size} バイトです。上限は ${MAX_USER_MESSAGE_SIZE} バイトです。`,
      ),
    )
  if (prompt.startsWith(CONTEXT_ENTRY_START_HEADER) || prompt.startsWith(USER_ENTRY_START_HEADER))
    report('prompt_rendered', place)
}

function checkImages(images: readonly ImageBlock[], place: string, report: AmazonQReport): void {
  if (images.length > MAX_NUMBER_OF_IMAGES_PER_REQUEST)
    report(
      'image_count',
      place,
      phrase(
        `It has ${images.length} images; the limit is ${MAX_NUMBER_OF_IMAGES_PER_REQUEST}.`,
        `画像が ${images.length} 枚あります。上限は ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} 枚です。`,
      ),
    )
  images.forEach((image, at) => {
    checkImage(image, `${place}[${at}]`, report)
  })
}

function checkImage({ format, source }: ImageBlock, place: string, report: AmazonQReport): void {
  if (source === 'Unknown')
    return report('image_format', place, phrase('The image is empty.', '画像にデータがありません。'))
  if (source.Bytes.length > MAX_IMAGE_SIZE)
    report(
      'image_size',
      place,
      phrase(
        `The image has ${source.Bytes.length} bytes; the limit is ${MAX_IMAGE_SIZE}.`,
        `画像は ${source.Bytes.length} バイトです。上限は ${MAX_IMAGE_SIZE} バイトです。`,
      ),
    )
  if (!hasSignature(format, source.Bytes))
    report(
      'image_format',
      place,
      phrase(`The data is not a ${format} image.`, `${format} の画像のデータではありません。`),
    )
}

const IMAGE_SIGNATURES: Readonly<Record<string, readonly (number | undefined)[]>> = {
  Png: [0x89, 0x50, 0x4e, 0x47],
  Jpeg: [0xff, 0xd8, 0xff],
  Gif: [0x47, 0x49, 0x46, 0x38],
  Webp: [0x52, 0x49, 0x46, 0x46, undefined, undefined, undefined, undefined, 0x57, 0x45, 0x42, 0x50],
}

const hasSignature = (format: string, bytes: readonly number[]): boolean => {
  const signature = Object.hasOwn(IMAGE_SIGNATURES, format) ? IMAGE_SIGNATURES[format] : undefined
  return signature?.every((byte, at) => byte === undefined || byte === bytes[at]) ?? true
}
