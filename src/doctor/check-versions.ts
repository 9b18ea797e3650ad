/** Which Node, which fumibako, which SQLite. */
import { readFileSync } from 'node:fs'
import { HOW_TO_INSTALL, openSqlite, sqliteHere } from '../lib/sqlite/driver.ts'
import { phrase } from '../model/phrase.ts'
import type { Finding } from './finding.ts'

const OLDEST_NODE = 20
export const SQLITE = 'sqlite'

export function* checkVersions(): Generator<Finding> {
  const node = process.versions.node
  const major = Number(node.split('.')[0])
  yield {
    about: 'versions',
    ...(major < OLDEST_NODE
      ? {
          state: 'problem',
          todo: phrase(
            `Install Node.js ${OLDEST_NODE} or newer.`,
            `Node.js ${OLDEST_NODE} 以上をインストールしてください。`,
          ),
        }
      : { state: 'ok' as const }),
    what: phrase(
      `fumibako ${ownVersion()}, Node.js ${node} on ${process.platform} ${process.arch}`,
      `fumibako ${ownVersion()}、Node.js ${node}（${process.platform} ${process.arch}）`,
    ),
    facts: { fumibako: ownVersion(), node, platform: process.platform, arch: process.arch },
  }
  yield sqlite()
}

function ownVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** Made for some versions of Node only: after an update of Node it may not load. */
function sqlite(): Finding {
  const here = sqliteHere()
  if (here.kind === 'failed')
    return {
      about: SQLITE,
      state: 'problem',
      what: phrase(`SQLite cannot be loaded: ${here.reason}`, `SQLite を読み込めません: ${here.reason}`),
      todo: HOW_TO_INSTALL,
      facts: { sqlite: null },
    }
  const db = openSqlite(':memory:')
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get())
  db.close()
  return {
    about: SQLITE,
    state: 'ok',
    what: phrase(`SQLite ${version}`, `SQLite ${version}`),
    facts: { sqlite: version },
  }
}
