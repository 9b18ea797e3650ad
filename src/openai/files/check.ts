/** Checks the messages of one record of a file, and mends them where they stand. */
import { type Fields, isObject } from '../../lib/object.ts'
import type { Problem } from '../check/problem.ts'
import { repair } from '../check/validate.ts'
import type { Profile, ProfileName } from '../profile.ts'
import { readRecord } from './read.ts'
import type { Foreign } from './shape.ts'

export interface RecordCheck {
  /** Paths begin where the messages stand in the record: `$.messages[2].content`. */
  readonly problems: readonly Problem[]
  /** The record with its messages mended. Nothing where they do not stand there as a list of chat messages. */
  readonly mended: unknown
}

/** A record in another form is checked as the messages that it means. Answers what it is where it is no conversation. */
export function checkRecord(value: unknown, isLine: boolean, profile: ProfileName | Profile): RecordCheck | Foreign {
  if (Array.isArray(value)) return listed(value, '$', profile, (messages) => messages)
  const reading = readRecord(value, isLine)
  if (!reading.ok) return reading.shape
  const { format, branches } = reading.conversation
  if (isObject(value) && Array.isArray(value['messages']) && (format === 'messages' || format === 'sft'))
    return listed(value['messages'], '$.messages', profile, (messages): Fields => ({ ...value, messages }))
  const problems = branches.flatMap(({ messages, name }) =>
    repair(messages, profile).problems.map((one) => under(name === undefined ? '$' : `$(${name})`, one)),
  )
  return { problems, mended: undefined }
}

function listed(
  messages: readonly unknown[],
  path: string,
  profile: ProfileName | Profile,
  put: (messages: readonly unknown[]) => unknown,
): RecordCheck {
  const { messages: mended, problems } = repair(messages, profile)
  return { problems: problems.map((one) => under(path, one)), mended: put(mended) }
}

const under = (path: string, problem: Problem): Problem => ({
  ...problem,
  path: problem.path.replace(/^\$/, () => path),
})
