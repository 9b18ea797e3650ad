/**
 * Which messages a session has, in one number for each prefix. Client and server compute it independently; where it is
 * equal, so are all messages up to there.
 */
import { createHash } from 'node:crypto'

/** Of no messages. */
export const NO_CHAIN: MessageChain = { ids: '', texts: '' }

export interface MessageChain {
  /** Of ids and roles: equal on every machine that has the same log. */
  readonly ids: string
  /** Of the complete redacted messages. */
  readonly texts: string
}

/** @param line a message as JSON, as it is sent */
export const extendChain = ({ ids, texts }: MessageChain, id: string, line: string): MessageChain => ({
  ids: shortHash(`${ids} ${id}`),
  texts: shortHash(`${texts} ${shortHash(line)}`),
})

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)

/** A number of 63 bits as 16 hex digits: the id of a session in the team, the same for every person who pushes it. */
export function sessionKeyOf(agent: string, native: string, firstRecord: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([agent, native, firstRecord]))
    .digest()
    .subarray(0, 8)
  bytes[0] = (bytes[0] ?? 0) & 0x7f
  return bytes.toString('hex')
}

export const keyToNumber = (key: string): string => BigInt(`0x${key}`).toString()

export const keyFromNumber = (number: string): string => BigInt(number).toString(16).padStart(16, '0')

/** A chunk ends at each multiple of this, so that client and server compare prefixes of the same lengths. */
export const CHECKPOINT_MESSAGES = 256
