/** Which Node, which fumibako, which SQLite. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
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

/** Made for one version of Node: after an update of Node it may not load. */
function sqlite(): Finding {
  try {
    const Sqlite = createRequire(import.meta.url)('better-sqlite3') as typeof Database
    const db = new Sqlite(':memory:')
    const version = String(db.prepare('SELECT sqlite_version()').pluck().get())
    db.close()
    return {
      about: SQLITE,
      state: 'ok',
      what: phrase(`SQLite ${version}`, `SQLite ${version}`),
      facts: { sqlite: version },
    }
  } catch (error) {
    return {
      about: SQLITE,
      state: 'problem',
      what: phrase(`SQLite cannot be loaded: ${firstLine(error)}`, `SQLite を読み込めません: ${firstLine(error)}`),
      todo: phrase(
        'Install fumibako again with this Node.js: npm rebuild better-sqlite3',
        'この Node.js で fumibako を入れ直してください: npm rebuild better-sqlite3',
      ),
      facts: { sqlite: null },
    }
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
