/** Writes a conversation as a journal that `kiro-cli chat --resume-id` continues. */
import { type Fields, fieldsOf } from '../../../lib/unknown-values.ts'
import {
  type AnswerPart,
  type AnswerStep,
  elementFactsOf,
  type ReplayCall,
  type ReplayStep,
  resultFactsOf,
  toConversionChange,
} from '../../../model/replay/step.ts'
import type { WrittenForm } from '../../agent.ts'
import { type LinePlace, lineWriter, type NewLine } from '../../kit/line-writer.ts'
import {
  answeredAt,
  argumentsOf,
  type BlockForm,
  blocksOf,
  imageBlocks,
  MADE,
  nameFor,
  orphanRecord,
  outputOf,
  recordFactsOf,
  type StepNaming,
  splitAnswer,
  wordBlocks,
} from '../../kit/step-blocks.ts'
import { KIRO } from '../stores.ts'
import { isEntry } from './record.ts'

export const SESSION_FORM: WrittenForm = {
  name: 'kiro-session',
  label: 'session of Kiro CLI 2',
  label_ja: 'Kiro CLI 2 の会話',
  suffix: '.jsonl',
}

/** As its service accepts them. */
const TOOL_NAMES = { fits: /^[A-Za-z][A-Za-z0-9_]*$/, allowedCharacters: /[A-Za-z0-9_]/, maxLength: 64 }

export const writeSession = lineWriter({
  agent: KIRO,
  toolNames: TOOL_NAMES,
  isOwn: isEntry,
  linesOf,
  place,
  carrier: () => ({ version: 'v1', kind: 'ResetTo', data: { target_index: BEHIND_THE_END } }),
})

/** Kiro takes back nothing then. */
const BEHIND_THE_END = 4_294_967_295

/** A line before it has its id. */
const entry = (kind: string, content: readonly Fields[], values: Fields = {}): Fields => ({
  version: 'v1',
  kind,
  data: { content, ...values },
})

function place({ data, ...rest }: Fields, { at, id }: LinePlace): Fields {
  const isPrompt = rest['kind'] === 'Prompt'
  const meta = { timestamp: Math.floor(Date.parse(at) / 1000) }
  return { ...rest, data: { message_id: id, ...fieldsOf(data), ...(isPrompt && { meta }) } }
}

/** Kiro's service wants prompts and answers in turn. What was written last, for each conversation. */
const spokenLast = new WeakMap<StepNaming, 'user' | 'model'>()

const FIRST_PROMPT = '(start of imported conversation)'
const NEXT_PROMPT = '(the conversation goes on)'
const NO_ANSWER = '(no response recorded)'

const IMAGE_TYPE = /^image\/(gif|jpeg|png|webp)$/

const FORM: BlockForm = {
  text: (text) => ({ kind: 'text', data: text }),
  /** Bytes as numbers: the form in which Kiro reads them back. */
  image: ({ mimeType, data }) => {
    const format = IMAGE_TYPE.exec(mimeType)?.[1]
    const source = { kind: 'bytes', data: [...Buffer.from(data, 'base64')] }
    return format === undefined ? undefined : { kind: 'image', data: { format, source } }
  },
}

function linesOf(step: ReplayStep, naming: StepNaming): readonly NewLine[] {
  switch (step.kind) {
    case 'instruction':
    case 'prompt': {
      const { message } = step
      return userLines(blocksOf(FORM, message, naming), message.timestamp, elementFactsOf(message), naming)
    }
    case 'answer':
      // The results of all calls of an answer are one line, before the model speaks again.
      return splitAnswer(withoutThoughts(step), ({ kind }) => kind === 'words').flatMap((parts) =>
        partLines(parts, naming),
      )
    case 'orphan': {
      const { blocks, at, facts } = orphanRecord(FORM, step, naming)
      return userLines(blocks, at, facts, naming)
    }
    case 'aside':
      return []
  }
}

function userLines(
  blocks: readonly Fields[],
  at: string,
  facts: NewLine['facts'],
  naming: StepNaming,
): readonly NewLine[] {
  const line = { value: entry('Prompt', blocks), at, facts }
  const isUnanswered = spokenLast.get(naming) === 'user'
  spokenLast.set(naming, 'user')
  if (!isUnanswered) return [line]
  naming.repair(at, toConversionChange('answer_made', NO_ANSWER))
  return [{ value: entry('AssistantMessage', [FORM.text(NO_ANSWER)]), at, facts: MADE }, line]
}

const withoutThoughts = (step: AnswerStep): AnswerStep => ({
  ...step,
  said: step.said.filter(({ kind }) => kind !== 'thought'),
})

function partLines(parts: readonly AnswerPart[], naming: StepNaming): readonly NewLine[] {
  const lines: NewLine[] = []
  const calls: { readonly call: ReplayCall; readonly id: string }[] = []
  const { at, message } = recordFactsOf(parts)
  const last = spokenLast.get(naming)
  if (last !== 'user') {
    const text = last === undefined ? FIRST_PROMPT : NEXT_PROMPT
    naming.repair(at, toConversionChange('prompt_made', text))
    lines.push({ value: entry('Prompt', [FORM.text(text)]), at, facts: MADE })
  }
  const content = parts.flatMap((part): readonly Fields[] => {
    if (part.kind !== 'call') return wordBlocks(FORM, part.message, naming)
    const { id, name } = nameFor(part.call, naming)
    calls.push({ call: part.call, id })
    return [{ kind: 'toolUse', data: { toolUseId: id, name, input: argumentsOf(part.call, naming) } }]
  })
  lines.push({ value: entry('AssistantMessage', content), at, facts: message && elementFactsOf(message) })
  spokenLast.set(naming, calls.length > 0 ? 'user' : 'model')
  return calls.length > 0 ? [...lines, resultsLine(calls, naming)] : lines
}

function resultsLine(
  calls: readonly { readonly call: ReplayCall; readonly id: string }[],
  naming: StepNaming,
): NewLine {
  const content = calls.map(({ call, id }): Fields => {
    const { result } = call
    const images = result ? imageBlocks(FORM, result.segments, result.message, naming) : []
    return {
      kind: 'toolResult',
      data: {
        toolUseId: id,
        content: [FORM.text(outputOf(call, naming)), ...images],
        status: result?.tool.status === 'success' ? 'success' : 'error',
      },
    }
  })
  const answered = calls.filter(({ call }) => call.result)
  const [only] = calls.length === 1 ? answered : []
  const facts = only?.call.result ? resultFactsOf(only.call.result) : answered.length === 0 ? MADE : undefined
  const last = answered.at(-1) ?? calls.at(-1)
  return { value: entry('ToolResults', content, { results: {} }), at: last ? answeredAt(last.call) : '', facts }
}
