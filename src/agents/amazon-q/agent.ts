/**
 * Amazon Q CLI and its successor Kiro CLI, which took over the store: one conversation per row, overwritten by each
 * save.
 */
import { stat } from 'node:fs/promises'
import { watchDatabase } from '../../lib/sqlite/watch-database.ts'
import type { Session } from '../../model/session.ts'
import type { Agent, CheckOptions, ResumeCommand, Source, SourceFingerprint } from '../agent.ts'
import { withStore } from '../kit/open-store.ts'
import { capture } from './capture.ts'
import { check } from './check/check-state.ts'
import { deliver, install, makeLoadable } from './deliver.ts'
import { find, recognize } from './find.ts'
import { read, readMessage, scan } from './read.ts'
import { stateAt } from './row.ts'
import { checkSession } from './session-files/check.ts'
import { assertNotInUse, deliverSession, isSessionsHome } from './session-files/deliver.ts'
import { sessionReader } from './session-files/reader.ts'
import { describeSession, isSessionFile, probeSession, sideFiles } from './session-files/store.ts'
import { SESSION_FORM, writeSession } from './session-files/write.ts'
import { AMAZON_Q, isDatabasePath, KIRO, rootOwner, roots, storePaths, storeProblem } from './stores.ts'
import { parseRowKey, rowFingerprint } from './tables.ts'
import { FORMS, write } from './write.ts'

const amazonQ: Agent = {
  id: AMAZON_Q,
  label: 'Amazon Q and Kiro',
  names: { [AMAZON_Q]: 'Amazon Q', [KIRO]: 'Kiro' },
  version: 3,
  roots,
  rootOwner,
  recognize,
  describe: describeSession,
  find,
  probe,
  scan: (source, from) => (isSessionFile(source.path) ? sessionReader.scan(source, from) : scan(source)),
  read: (source, options) => (isSessionFile(source.path) ? sessionReader.read(source, options) : read(source, options)),
  readMessage: (source, locator, options) =>
    isSessionFile(source.path)
      ? sessionReader.readMessage(source, locator, options)
      : readMessage(source, locator, options),
  stateAt: async (source, line) => (isSessionFile(source.path) ? undefined : stateAt(source, line)),
  retention: () => ({ kind: 'overwrites' }),
  volatile: {
    stores: storePaths,
    isStore: (path) => !isSessionFile(path),
    capture,
    watch: watchDatabase,
    loadable: makeLoadable,
    install,
  },
  originals: { sideFiles, assertIdle: assertNotInUse },
  forms: [...FORMS, SESSION_FORM],
  formOf: ({ agent, path }) => (isSessionFile(path) ? SESSION_FORM.name : agent),
  deliveredForm: (to, environment) => (to === KIRO && isSessionsHome(environment) ? SESSION_FORM.name : to),
  write: (session, messages, options) =>
    options.form === SESSION_FORM.name ? writeSession(session, messages, options) : write(session, messages, options),
  check: (open, options) => (isSessionCheck(options) ? checkSession(open, options) : check(open)),
  deliver: (file, options) => (isSessionFile(file) ? deliverSession(file, options) : deliver(file, options)),
  resume,
}

export default amazonQ

const isSessionCheck = ({ form, path }: CheckOptions): boolean =>
  form === undefined ? path !== undefined && isSessionFile(path) : form === SESSION_FORM.name

async function probe(source: Source): Promise<SourceFingerprint | undefined> {
  const file = await stat(source.path).catch(() => undefined)
  if (!file) return undefined
  if (isSessionFile(source.path)) return probeSession(source)
  const key = source.key === undefined ? undefined : parseRowKey(source.key)
  if (!key) {
    const problem = isDatabasePath(source.path) ? storeProblem(source.path)?.kind : undefined
    return `${problem === undefined ? '' : `${problem}:`}${file.size}:${file.mtimeMs}:${file.ino}`
  }
  const found = withStore(source.path, (database) => rowFingerprint(database, key))
  return found.ok ? found.value : `${found.problem.kind}:${file.size}:${file.mtimeMs}`
}

/** A row is found by the directory in which the program is started, a file by its id. */
function resume(session: Session): ResumeCommand {
  const program = session.agent === KIRO ? 'kiro-cli' : 'q'
  const isFile = session.agent === KIRO && isSessionFile(session.path)
  const command = { program, arguments: isFile ? ['chat', '--resume-id', session.native_id] : ['chat', '--resume'] }
  return session.cwd === undefined ? command : { ...command, cwd: session.cwd }
}
