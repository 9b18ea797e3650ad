/** What a record's place in the log says about it. */
import type { RecordDraft } from '../record/draft.ts'
import type { RecordTime } from './record-clock.ts'

export function lineMetadata(
  recordTime: RecordTime,
  copied: boolean,
  ancestor: boolean,
): Record<string, unknown> | undefined {
  if (!recordTime.inferred && !copied && !ancestor) return undefined
  const marks: Record<string, unknown> = {}
  if (recordTime.inferred) marks['timestamp_inferred'] = true
  if (copied) marks['replayed'] = true
  if (ancestor) marks['ancestor'] = true
  return marks
}

/** Logs before the envelope name their directory only in the context given to the model. */
export const cwdIn = (draft: RecordDraft): string | undefined =>
  /<cwd>([^<]+)<\/cwd>/.exec(draft.segments[0]?.text?.slice(0, 2000) ?? '')?.[1]

/** What a prompt says apart from what the program put before it. */
export function typedText(draft: RecordDraft): string {
  for (const { text, annotations } of draft.segments) {
    if (text === undefined) continue
    const injected = annotations?.find((mark) => mark.kind === 'injected')
    const typed = injected ? text.slice(injected.end) : text
    if (typed.trim() !== '') return typed
  }
  return ''
}
