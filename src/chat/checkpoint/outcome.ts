/** What came of an operation on checkpoints. A failure says why, to a person. */
import { type Phrase, phrase } from '../../model/phrase.ts'

export type Outcome<T> = { readonly ok: true; readonly value: T } | Failed

export interface Failed {
  readonly ok: false
  readonly reason: Phrase
}

export const refused = (reason: Phrase): Failed => ({ ok: false, reason })

export const notFound = (tag: string): Failed =>
  refused(phrase(`Checkpoint '${tag}' not found`, `チェックポイント「${tag}」はありません`))

/** Its last words say more than we can. */
export const byGit = (reason: string): Failed => refused(phrase(reason, `git の処理に失敗しました（${reason}）`))
