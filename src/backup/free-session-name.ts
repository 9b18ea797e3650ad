/** Names for sessions whose plain one is taken. */
import { sha256 } from '../lib/hash.ts'
import type { SessionId } from '../model/ids.ts'

const MIN_SUFFIX_DIGITS = 6

/**
 * `~` and the first digits of the hash of an entry that tells this session from the others; more digits where six are
 * taken. Two stores may hold the same entry: then the digits are those of the hash together with the store's path.
 */
export function freeSessionName(
  plain: SessionId,
  hash: string,
  store: string,
  isTaken: (name: SessionId) => boolean,
): SessionId {
  for (let digits = hash, round = 1; ; digits = sha256(`${hash}\n${store}\n${round}`), round++)
    for (let length = MIN_SUFFIX_DIGITS; length <= digits.length; length++) {
      const name = `${plain}~${digits.slice(0, length)}` as SessionId
      if (!isTaken(name)) return name
    }
}
