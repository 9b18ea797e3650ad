/** Claude Code: finds, reads and counts its sessions. */
import type { Agent } from '../agent.ts'
import { jsonlAgent } from '../kit/jsonl-agent.ts'
import { check } from './check-log.ts'
import { countRecord } from './count-record.ts'
import { deliver } from './deliver.ts'
import { addDesktopTitle, describe, isConversation, settle } from './describe.ts'
import { AGENT_ID, find, roots } from './find.ts'
import { copyMemory, type Memory, newMemory } from './memory.ts'
import { originals } from './originals.ts'
import { nativeIdOf } from './paths.ts'
import { describeFile, recognize } from './recognize.ts'
import { draftsOf, typeOf } from './record/drafts.ts'
import { relate } from './relate.ts'
import { retention } from './retention.ts'
import { isSilent } from './silent-lines.ts'
import { namesGiven } from './summaries.ts'
import { write } from './write.ts'

const claudeCode: Agent = {
  id: AGENT_ID,
  label: 'Claude Code',
  version: 2,
  roots,
  retention,
  originals,
  recognize,
  describe: (head) => describeFile(head),
  find,
  ...jsonlAgent<Memory>({
    agent: AGENT_ID,
    nativeId: (_first, path) => nativeIdOf(path),
    timeOf: (record) => record['timestamp'],
    eventOf: typeOf,
    draftsOf,
    describe,
    newMemory,
    copyMemory,
    relate,
    isSilent,
    countRecord,
    settle,
    finish: addDesktopTitle,
    names: ({ summaries }, source) => namesGiven(summaries, source),
    isConversation,
  }),
  forms: [{ name: AGENT_ID, label: 'a session of Claude Code', label_ja: 'Claude Code の会話', suffix: '.jsonl' }],
  write,
  check,
  deliver,
  resume: ({ native_id, cwd, relation, parent }) => ({
    program: 'claude',
    arguments: ['--resume', relation === 'subagent' && parent ? parent.slice(AGENT_ID.length + 1) : native_id],
    ...(cwd !== undefined && { cwd }),
  }),
}

export default claudeCode
