/** Checks the messages of one record of a file, and mends them where they stand. */
import { type Fields, isObject } from '../../lib/unknown-values.ts'
import type { Problem } from '../check/problem.ts'
import { repair } from '../check/validate.ts'
import type { Profile, ProfileName } from '../profile.ts'
import { readRecord } from './read-record.ts'
import type { ForeignShape } from './record-shape.ts'

export interface RecordCheck {
  /** Paths begin where the messages stand in the record: `$.messages[2].content`. */
  readonly problems: readonly Problem[]
  /** The record with its messages mended. Nothing where they do not stand there as a list of chat messages. */
  readonly mended: unknown
}

/** A record in another form is checked as the messages that it means. Answers what it is where it is no conversation. */
export function checkRecord(
  value: unknown,
  isLine: boolean,
  profile: ProfileName | Profile,
): RecordCheck | ForeignShape {
  if (Array.isArray(value)) return checkMessageList(value, '$', profile, (messages) => messages)
  const result = readRecord(value, isLine)
  if (!result.ok) return result.shape
  const { format, branches } = result.conversation
  if (isObject(value) && Array.isArray(value['messages']) && (format === 'messages' || format === 'sft'))
    return checkMessageList(value['messages'], '$.messages', profile, (messages): Fields => ({ ...value, messages }))
  const problems = branches.flatMap(({ messages, name }) =>
    repair(messages, profile).problems.map((one) => withPathPrefix(name === undefined ? '$' : `$(${name})`, one)),
  )
  return { problems, mended: undefined }
}

function checkMessageList(
  messages: readonly unknown[],
  path: string,
  profile: ProfileName | Profile,
  wrap: (messages: readonly unknown[]) => unknown,
): RecordCheck {
  const { messages: repaired, problems } = repair(messages, profile)
  return { problems: problems.map((one) => withPathPrefix(path, one)), mended: wrap(repaired) }
}

const withPathPrefix = (path: string, problem: Problem): Problem => ({
  ...problem,
  path: problem.path.replace(/^\$/, () => path),
})
