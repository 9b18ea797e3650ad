/**
 * Exports a session as spans of OpenTelemetry with the attributes for generative AI: one request of OTLP/JSON per line,
 * as collectors read it from a file or take it at `/v1/traces`. Ids are hashes of the session's own ids, so that exporting
 * again writes the same spans, and a sub-agent is in the trace of its parent, under the call that started it.
 */
import { createHash } from 'node:crypto'
import { classify } from '../model/classify.ts'
import type { NormalizedMessage } from '../model/normalized.ts'
import type { Session } from '../model/session.ts'
import { type ExportInput, type ExportOptions, exportTitleOf } from './export-input.ts'

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status?: { readonly code: number }
}

interface Attribute {
  readonly key: string
  readonly value: object
}

const INTERNAL = 1
const CLIENT = 3
const ERROR_STATUS = 2

/** With `all`, the spans also contain what was said; by default only numbers and names. */
export async function* exportOtel(input: ExportInput, { turns, all }: ExportOptions): AsyncGenerator<string> {
  const { session, messages, outline } = input
  const builder = new SpanBuilder(session, input.root, all === true)
  let number = 0
  for await (const message of messages) {
    const { isTyped, isReplayed } = classify(message, outline.facts)
    if (isTyped) number++
    if (turns && number > turns.to) break
    if (isReplayed || (turns && number < turns.from)) continue
    builder.add(message)
  }
  const spans = builder.finish(input.agent, exportTitleOf(input))
  if (spans.length === 0) return
  const resource = {
    attributes: [text('service.name', session.agent), text('service.version', session.agent_version ?? '')],
  }
  yield `${JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'fumibako' }, spans }] }] })}\n`
}

interface OpenCall {
  readonly name: string
  readonly start: number
  readonly message: NormalizedMessage
}

class SpanBuilder {
  readonly #session: Session
  readonly #hasContent: boolean
  readonly #traceId: string
  readonly #ownSpan: string
  readonly #spans: Span[] = []
  readonly #calls = new Map<string, OpenCall>()
  #first: number | undefined
  #last = 0
  /** When the current request to the model began: after the last prompt or result. */
  #asked: number | undefined
  #requests = 0
  /** What was said since the last report of tokens. */
  #said: string[] = []

  constructor(session: Session, top: string | undefined, hasContent: boolean) {
    this.#session = session
    this.#hasContent = hasContent
    const root = session.relation === 'subagent' ? (top ?? session.parent ?? session.id) : session.id
    this.#traceId = hashOf(`trace ${root}`, 16)
    this.#ownSpan = hashOf(`session ${session.id}`, 8)
  }

  add(message: NormalizedMessage): void {
    const at = Date.parse(message.timestamp)
    this.#first ??= at
    this.#last = Math.max(this.#last, at)
    const { tool_call: call, metadata, role, segments } = message
    if (role === 'user') this.#asked = at
    if (role === 'assistant' && this.#hasContent) this.#said.push(...segments.flatMap(({ text: said }) => said ?? []))
    if (call && message.source_type === 'tool_call' && call.call_id !== null)
      this.#calls.set(call.call_id, {
        name: [call.namespace, call.name].filter(Boolean).join('.') || 'unknown',
        start: at,
        message,
      })
    if (call && call.output !== undefined && call.call_id !== null) this.#endCall(call.call_id, message, at)
    if (call && message.source_type === 'tool_result') this.#asked = at
    if (metadata?.usage) this.#addRequest(message, at)
  }

  /** The span of the session first. */
  finish(label: string, title: string): readonly Span[] {
    if (this.#first === undefined) return []
    for (const [id, { message, start }] of [...this.#calls]) this.#endCall(id, message, start)
    const { id, native_id, agent, relation, parent, parent_call, cwd, git, model_provider } = this.#session
    const parentSpanId =
      relation !== 'subagent' || parent === undefined
        ? undefined
        : parent_call === undefined
          ? hashOf(`session ${parent}`, 8)
          : hashOf(`call ${parent} ${parent_call}`, 8)
    const own: Span = {
      traceId: this.#traceId,
      spanId: this.#ownSpan,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name: `invoke_agent ${agent}`,
      kind: INTERNAL,
      startTimeUnixNano: nanos(this.#first),
      endTimeUnixNano: nanos(this.#last),
      attributes: [
        text('gen_ai.operation.name', 'invoke_agent'),
        text('gen_ai.agent.name', label),
        text('gen_ai.conversation.id', native_id),
        text('gen_ai.provider.name', model_provider ?? agent),
        text('fumibako.session.id', id),
        ...(cwd === undefined ? [] : [text('process.working_directory', cwd)]),
        ...(git?.branch === undefined ? [] : [text('vcs.ref.head.name', git.branch)]),
        ...(this.#hasContent ? [text('fumibako.session.title', title)] : []),
      ],
    }
    return [own, ...this.#spans]
  }

  #addRequest({ metadata }: NormalizedMessage, at: number): void {
    const usage = metadata?.usage
    if (!usage) return
    const model = typeof metadata?.model === 'string' ? metadata.model : undefined
    const said = this.#said.splice(0).join('\n')
    this.#spans.push({
      traceId: this.#traceId,
      spanId: hashOf(`request ${this.#session.id} ${this.#requests++}`, 8),
      parentSpanId: this.#ownSpan,
      name: `chat ${model ?? 'unknown'}`,
      kind: CLIENT,
      startTimeUnixNano: nanos(Math.min(this.#asked ?? at, at)),
      endTimeUnixNano: nanos(at),
      attributes: [
        text('gen_ai.operation.name', 'chat'),
        text('gen_ai.conversation.id', this.#session.native_id),
        text('gen_ai.provider.name', this.#session.model_provider ?? this.#session.agent),
        ...(model === undefined ? [] : [text('gen_ai.request.model', model), text('gen_ai.response.model', model)]),
        count('gen_ai.usage.input_tokens', usage.input_tokens),
        count('gen_ai.usage.output_tokens', usage.output_tokens),
        count('gen_ai.usage.cache_read.input_tokens', usage.cached_input_tokens),
        count('gen_ai.usage.cache_creation.input_tokens', usage.cache_write_tokens ?? 0),
        count('gen_ai.usage.reasoning.output_tokens', usage.reasoning_output_tokens),
        ...(said === ''
          ? []
          : [
              text(
                'gen_ai.output.messages',
                JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: said }] }]),
              ),
            ]),
      ],
    })
    this.#asked = at
  }

  #endCall(id: string, { tool_call: call }: NormalizedMessage, at: number): void {
    const open = this.#calls.get(id)
    if (!open) return
    this.#calls.delete(id)
    const hasFailed = call?.status === 'error' || (call?.exit_code ?? 0) !== 0
    const begun = open.message.tool_call
    this.#spans.push({
      traceId: this.#traceId,
      spanId: hashOf(`call ${this.#session.id} ${id}`, 8),
      parentSpanId: this.#ownSpan,
      name: `execute_tool ${open.name}`,
      kind: INTERNAL,
      startTimeUnixNano: nanos(open.start),
      endTimeUnixNano: nanos(Math.max(open.start, at)),
      attributes: [
        text('gen_ai.operation.name', 'execute_tool'),
        text('gen_ai.tool.name', open.name),
        text('gen_ai.tool.call.id', id),
        ...(this.#hasContent
          ? [
              text(
                'gen_ai.tool.call.arguments',
                begun?.arguments ?? begun?.input ?? JSON.stringify(begun?.arguments_json ?? {}),
              ),
              text('gen_ai.tool.call.result', call?.output ?? ''),
            ]
          : []),
      ],
      ...(hasFailed && { status: { code: ERROR_STATUS } }),
    })
  }
}

const hashOf = (name: string, bytes: number): string =>
  createHash('sha256')
    .update(name)
    .digest('hex')
    .slice(0, bytes * 2)
const nanos = (milliseconds: number): string => `${milliseconds}000000`
const text = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } })
/** 64-bit numbers are strings in OTLP/JSON. */
const count = (key: string, intValue: number): Attribute => ({ key, value: { intValue: String(intValue) } })
