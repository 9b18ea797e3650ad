/** Cursor: conversations in the database of its editor. */
import { watchDatabase } from '../../lib/sqlite/watch-database.ts'
import { type Fields, nonEmptyStringOf } from '../../lib/unknown-values.ts'
import { AppError } from '../../model/error.ts'
import type { Session } from '../../model/session.ts'
import type { Agent } from '../agent.ts'
import { captureRecords, recordStoreAgent } from '../kit/record-store.ts'
import { bubbleOf, composerOf, directoryOf, draftsOf, eventOf, modelOf, timeOf } from './record.ts'
import { AGENT_ID, describe, find, isDatabasePath, probe, recognize, recordStore, stores } from './store.ts'

const idIn = (header: Fields): string | undefined => nonEmptyStringOf(composerOf(header)?.['composerId'])

/** A message is stored without the name under which its record has it. */
const BUBBLE = '{"bubble":'

const cursor: Agent = {
  id: AGENT_ID,
  label: 'Cursor',
  version: 1,
  roots: stores,
  retention: () => ({ kind: 'overwrites' }),
  recognize,
  describe,
  find,
  probe,
  ...recordStoreAgent<Record<string, never>>(
    {
      agent: AGENT_ID,
      nativeId: idIn,
      timeOf,
      eventOf,
      draftsOf,
      describe: describeSession,
      newMemory: () => ({}),
    },
    recordStore,
  ),
  volatile: {
    isStore: isDatabasePath,
    stores,
    capture: async (source) =>
      captureRecords(recordStore, source, {
        ...{ list: 'bubbles', idIn, strip: (bytes) => bytes.subarray(BUBBLE.length, -1) },
        idOf: (record) => nonEmptyStringOf(bubbleOf(record)['bubbleId']),
      }),
    watch: watchDatabase,
    loadable: () => undefined,
    async install() {
      throw new AppError(
        'cannot_write',
        'Conversations cannot be put back into Cursor. Write the backup to a file with fumi restore <session> --to <file>.',
        'Cursor には会話を戻せません。fumi restore <セッション> --to <ファイル> でファイルに取り出してください。',
      )
    },
  },
}

export default cursor

function describeSession(session: Session, record: Fields): Session {
  const composer = composerOf(record)
  const changes: { -readonly [K in keyof Session]?: Session[K] } = {}
  const title = nonEmptyStringOf(composer?.['name'])
  if (title !== undefined && title !== session.title) changes.title = title
  const cwd = composer ? undefined : directoryOf(bubbleOf(record))
  if (cwd !== undefined && session.cwd === undefined) changes.cwd = cwd
  const model = modelOf(composer ?? bubbleOf(record))
  if (model !== undefined && !session.models.includes(model)) changes.models = [...session.models, model]
  for (const _ in changes) return { ...session, ...changes }
  return session
}
