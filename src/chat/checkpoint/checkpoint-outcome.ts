/** What came of an operation on checkpoints. A failure says why, to a person. */
import { type Phrase, phrase } from '../../model/phrase.ts'

export type CheckpointOutcome<T> = { readonly ok: true; readonly value: T } | CheckpointFailure

export interface CheckpointFailure {
  readonly ok: false
  readonly reason: Phrase
}

export const checkpointFailure = (reason: Phrase): CheckpointFailure => ({ ok: false, reason })

export const checkpointNotFound = (tag: string): CheckpointFailure =>
  checkpointFailure(phrase(`Checkpoint '${tag}' not found`, `チェックポイント「${tag}」はありません`))

/** Its last words say more than we can. */
export const gitFailure = (reason: string): CheckpointFailure =>
  checkpointFailure(phrase(reason, `git の処理に失敗しました（${reason}）`))
