/** Lines that the first pass need not parse, told by their beginning: results, snapshots and other states. */

import { toInstant } from '../../model/ids.ts'
import { mayBeGlued } from '../kit/log-file.ts'
import { type Memory, noteTime } from './memory.ts'

const HEAD_BYTES = 1200

/** States that are repeated again and again, and change neither title nor counts. */
const STATE =
  /^\{"type":"(?:file-history-snapshot|file-history-delta|permission-mode|mode|queue-operation|last-prompt|worktree-state|pr-link)"/

/** The fields that may stand before the message. Their values are plain. */
const LEADING =
  '^\\{"parentUuid":(?:null|"[^"]*"),(?:"(?:logicalParentUuid|isSidechain|userType|cwd|sessionId|version|gitBranch|promptId|agentId|slug|entrypoint|sessionKind)":(?:"(?:[^"\\\\]|\\\\.)*"|true|false|null),)*'

const QUIET = new RegExp(
  `${LEADING}(?:"attachment":\\{"type":"(?!queued_command")|"type":"progress"|"type":"user","message":\\{"role":"user","content":\\[\\{(?:"tool_use_id":"[^"]*",)?"type":"tool_result")`,
)
const RESULT = /"content":\[\{(?:"tool_use_id":"[^"]*",)?"type":"tool_result"$/

/** After the message stands the record's own id, and after that its time. */
const ID_KEY = Buffer.from('"uuid":"')
const TIME_KEY = '","timestamp":"'
const UUID_LENGTH = 36
const BLOCK_START = Buffer.from('{"type":"')

export function isSilent(bytes: Buffer, memory: Memory): boolean {
  if (!memory.begun) return false
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, HEAD_BYTES))
  if (STATE.test(head)) return !mayBeGlued(bytes)
  const found = QUIET.exec(head)?.[0]
  if (found === undefined || mayBeGlued(bytes)) return false
  if (!RESULT.test(found)) return true
  const id = bytes.indexOf(ID_KEY, found.length)
  if (id < 0) return false
  // Something that was typed may stand beside the result.
  if (bytes.subarray(found.length, id).includes(BLOCK_START)) return false
  const at = id + ID_KEY.length + UUID_LENGTH
  if (bytes.toString('latin1', at, at + TIME_KEY.length) !== TIME_KEY) return false
  const time = toInstant(bytes.toString('latin1', at + TIME_KEY.length, at + TIME_KEY.length + 24))
  if (time !== undefined) noteTime(memory, time)
  return time !== undefined
}
