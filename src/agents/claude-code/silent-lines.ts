/** Lines that the first pass need not parse, told by their beginning: results, snapshots and other states. */

import { toInstant } from '../../model/ids.ts'
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

const TIME_KEY = '"timestamp":"'

export function isSilent(bytes: Buffer, memory: Memory): boolean {
  if (!memory.begun) return false
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, HEAD_BYTES))
  if (STATE.test(head)) return true
  const found = QUIET.exec(head)?.[0]
  if (found === undefined) return false
  if (!RESULT.test(found)) return true
  // Something that was typed may stand beside the result.
  if (bytes.includes('"type":"text"') || bytes.includes('"type":"image"')) return false
  const at = bytes.indexOf(TIME_KEY, found.length)
  const time = at < 0 ? undefined : toInstant(bytes.toString('latin1', at + TIME_KEY.length, at + TIME_KEY.length + 24))
  if (time !== undefined) noteTime(memory, time)
  return time !== undefined
}
