/** What the screen showed of an exchange. */
import { Entries } from '../entries.ts'
import type { HistoryEntry } from '../record.ts'
import { promptOf } from '../render.ts'
import { appendAssistantTranscript, appendUserTranscript } from '../transcript.ts'

export function transcriptLines({ user, assistant }: HistoryEntry): readonly string[] {
  const prompt = promptOf(user)
  const typed = prompt === undefined ? Entries.of<string>() : appendUserTranscript(Entries.of(), prompt)
  return appendAssistantTranscript(typed, assistant).toArray()
}
