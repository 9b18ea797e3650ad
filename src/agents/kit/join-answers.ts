/** Texts of one record that follow each other are one answer. */
import type { MessageDraft } from './place-message.ts'

const isAnswer = ({ role, source_type }: MessageDraft): boolean => role === 'assistant' && source_type === 'message'

export function joinAnswers(drafts: readonly MessageDraft[]): readonly MessageDraft[] {
  const joined: MessageDraft[] = []
  for (const draft of drafts) {
    const last = joined.at(-1)
    if (last && isAnswer(last) && isAnswer(draft))
      joined[joined.length - 1] = { ...last, segments: [...last.segments, ...draft.segments] }
    else joined.push(draft)
  }
  return joined
}
