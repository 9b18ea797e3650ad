/** Which Node, which fumibako, which SQLite. */
import { readFileSync } from 'node:fs'
import { INSTALL_HINT, loadSqlite, openSqlite } from '../lib/sqlite/driver.ts'
import { phrase } from '../model/phrase.ts'
import type { DoctorFinding } from './finding.ts'

const MIN_NODE_VERSION = 20
export const SQLITE_SUBJECT = 'sqlite'

export function* checkVersions(): Generator<DoctorFinding> {
  const node = process.versions.node
  const major = Number(node.split('.')[0])
  yield {
    about: 'versions',
    ...(major < MIN_NODE_VERSION
      ? {
          state: 'problem',
          todo: phrase(
            `Install Node.js ${MIN_NODE_VERSION} or newer.`,
            `Node.js ${MIN_NODE_VERSION} 以上をインストールしてください。`,
          ),
        }
      : { state: 'ok' as const }),
    what: phrase(
      `fumibako ${readOwnVersion()}, Node.js ${node} on ${process.platform} ${process.arch}`,
      `fumibako ${readOwnVersion()}、Node.js ${node}（${process.platform} ${process.arch}）`,
    ),
    facts: { fumibako: readOwnVersion(), node, platform: process.platform, arch: process.arch },
  }
  yield checkSqlite()
}

function readOwnVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** Made for some versions of Node only: after an update of Node it may not load. */
function checkSqlite(): DoctorFinding {
  const loaded = loadSqlite()
  if (loaded.kind === 'failed')
    return {
      about: SQLITE_SUBJECT,
      state: 'problem',
      what: phrase(`SQLite cannot be loaded: ${loaded.reason}`, `SQLite を読み込めません: ${loaded.reason}`),
      todo: INSTALL_HINT,
      facts: { sqlite: null },
    }
  const db = openSqlite(':memory:')
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get())
  db.close()
  return {
    about: SQLITE_SUBJECT,
    state: 'ok',
    what: phrase(`SQLite ${version}`, `SQLite ${version}`),
    facts: { sqlite: version },
  }
}
