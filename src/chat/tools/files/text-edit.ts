/** The four ways to change a text. Pure. */
import type { FieldReader } from '../../../lib/json/field-reader.ts'

export type FileEdit =
  | { readonly command: 'create' | 'append'; readonly text: string }
  | { readonly command: 'str_replace'; readonly old: string; readonly text: string }
  | { readonly command: 'insert'; readonly line: number; readonly text: string }

export type FileEditResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string }

/** A text says what is missing. */
export function parseFileEdit(reader: FieldReader): FileEdit | string {
  const given = reader.requiredText('command')
  const command = (['create', 'str_replace', 'insert', 'append'] as const).find((one) => one === given)
  const text = reader.text('new_str')
  const fileText = reader.text('file_text') ?? text
  const old = reader.text('old_str')
  const line = reader.integer('insert_line', null)
  if (command === undefined) return 'command must be create, str_replace, insert or append.'
  if (command === 'create') return fileText === null ? 'create needs file_text.' : { command, text: fileText }
  if (text === null) return `${command} needs new_str.`
  if (command === 'append') return { command, text }
  if (command === 'insert')
    return line === null || line < 0 ? 'insert needs insert_line, from 0 on.' : { command, line, text }
  return old === null || old === '' ? 'str_replace needs old_str.' : { command, old, text }
}

/** @param before null where there is no file */
export function applyFileEdit(edit: FileEdit, before: string | null): FileEditResult {
  if (edit.command === 'create') return { ok: true, text: withFinalNewline(edit.text) }
  if (before === null) return { ok: false, reason: 'no such file' }
  if (edit.command === 'insert') return insertLines(before, edit.line, edit.text)
  if (edit.command === 'str_replace') return replaceOnce(before, edit.old, edit.text)
  return { ok: true, text: withFinalNewline((before === '' ? '' : withFinalNewline(before)) + edit.text) }
}

function replaceOnce(before: string, old: string, text: string): FileEditResult {
  const at = before.indexOf(old)
  if (at < 0) return { ok: false, reason: 'old_str does not occur in it. Read it again and copy the text exactly.' }
  const count = before.split(old).length - 1
  const again = before.indexOf(old, at + 1)
  if (again >= 0)
    return {
      ok: false,
      reason: `old_str occurs ${Math.max(2, count)} times. Add lines around it until it is the only one.`,
    }
  return { ok: true, text: withFinalNewline(before.slice(0, at) + text + before.slice(at + old.length)) }
}

function insertLines(before: string, line: number, text: string): FileEditResult {
  const lines = before === '' ? [] : withFinalNewline(before).slice(0, -1).split('\n')
  if (line > lines.length) return { ok: false, reason: `it has ${lines.length} lines: there is no line ${line}` }
  const body = text.endsWith('\n') ? text.slice(0, -1) : text
  return { ok: true, text: withFinalNewline([...lines.slice(0, line), body, ...lines.slice(line)].join('\n')) }
}

/** With a newline at the end. */
const withFinalNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)
