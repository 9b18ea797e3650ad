/** Recognizes files of Gemini CLI by their first bytes, and parses those that are one JSON document. */
import { type Fields, fieldsOf, isObject, parseStructure } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import type { FileDescription } from '../agent.ts'
import type { ParsedDocument } from '../kit/document-file.ts'
import { firstLines, headText } from '../kit/source-file.ts'

type FileKind = 'session' | 'document' | 'prompts' | 'checkpoint'

const DESCRIPTIONS: Readonly<Record<FileKind, FileDescription>> = {
  session: {
    format: 'session',
    why: phrase('lines with sessionId and projectHash', 'sessionId と projectHash を持つ行'),
  },
  document: {
    format: 'session before 0.40',
    why: phrase('one object with sessionId and messages', 'sessionId と messages を持つ 1 つのオブジェクト'),
  },
  prompts: {
    format: 'prompt history',
    why: phrase('a list with sessionId, messageId and message', 'sessionId・messageId・message を持つ一覧'),
  },
  checkpoint: {
    format: 'checkpoint of /chat save',
    why: phrase('a history of role and parts', 'role と parts を持つ履歴'),
  },
}

export const recognize = (head: Uint8Array): boolean => kindOf(head) !== undefined

export function describe(head: Uint8Array): FileDescription | undefined {
  const kind = kindOf(head)
  return kind && DESCRIPTIONS[kind]
}

const SESSION_ID = /"sessionId"\s*:\s*"/
const PROJECT = /"projectHash"\s*:\s*"/
const CHANGE_LINE = /^\{"\$(?:set|rewindTo|patch)"\s*:/
const MESSAGE_TYPE = '"type"\\s*:\\s*"(?:user|gemini|info|error|warning)"'
const DOCUMENT = new RegExp(
  `^\\s*\\{\\s*\\n(?=[\\s\\S]*"(?:projectHash|lastUpdated)")(?=[\\s\\S]*(?:"messages"|${MESSAGE_TYPE}))`,
)
const PROMPTS = /^\s*\[\s*\{(?=[^}]*"sessionId"\s*:)(?=[^}]*"messageId"\s*:)(?=[^}]*"message"\s*:)/
const CHECKPOINT = /^\s*(?:\{\s*"history"\s*:\s*)?\[\s*\{\s*"(?:role"\s*:\s*"(?:user|model)"\s*,\s*"parts|parts)"\s*:/

function kindOf(head: Uint8Array): FileKind | undefined {
  const text = headText(head)
  if (PROMPTS.test(text)) return 'prompts'
  if (CHECKPOINT.test(text)) return 'checkpoint'
  if (firstLines(head).some((line) => isHeaderLine(line) || CHANGE_LINE.test(line))) return 'session'
  return DOCUMENT.test(text) ? 'document' : undefined
}

/** Searches for the rare word first. */
const isHeaderLine = (line: string): boolean =>
  line.startsWith('{') && line.includes('"projectHash"') && PROJECT.test(line) && SESSION_ID.test(line)

/** Not a line of its own: pretty-printed, or a list. */
export const looksLikeDocument = (head: string): boolean =>
  /^\uFEFF?\s*(?:\{\s*\n|\[)/.test(head) || CHECKPOINT.test(head)

export function parseDocument(text: string): ParsedDocument | undefined {
  const value = parseStructure(text.replace(/^\uFEFF/, '').replaceAll('\0', ''))
  if (Array.isArray(value)) {
    const items = value.filter(isObject)
    const kind = items.some((item) => 'messageId' in item) ? 'prompts' : 'checkpoint'
    return { records: [{ file: kind }, ...items.map((item) => toItem(kind, item))] }
  }
  const document = fieldsOf(value)
  if (!document) return undefined
  const { messages, history, ...header } = document
  if (Array.isArray(messages)) return { records: [header, ...messages.filter(isObject)] }
  if (!Array.isArray(history)) return undefined
  const items = history.filter(isObject).map((item) => toItem('checkpoint', item))
  return { records: [{ ...header, file: 'checkpoint' }, ...items] }
}

/** Marks what else would be told apart by its file only. */
const toItem = (file: string, item: Fields): Fields => ({ ...item, file })
