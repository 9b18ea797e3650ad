/**
 * Changes the logs below a home directory like agents and people do: `change-logs.mjs <home> <seed> <steps> [pause]`.
 * Logs grow (also by half a line), are truncated, replaced, deleted, renamed, copied, compressed and archived.
 */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

const [, , home, seed, steps, pause = '0'] = process.argv
let state = Number(seed) * 2_654_435_761 + 1
const below = (most) => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((state / 2 ** 32) * most)
}
const root = join(home, '.codex')
const logs = () =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^rollout-.*\.jsonl(?:\.zst)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
const at = (second) => new Date(Date.UTC(2026, 1, 3, 9, 15, second)).toISOString()
const line = (second, type, payload) => JSON.stringify({ timestamp: at(second), type, payload })
const said = (n) =>
  below(2) === 0
    ? line(50_000 + n, 'response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: `growing ${n} 検索` }],
      })
    : line(50_000 + n, 'event_msg', { type: 'agent_message', message: `tail ${n}` })
const headerOf = (id, second) =>
  line(second, 'session_meta', {
    id,
    timestamp: at(second),
    cwd: '/w/new',
    originator: 'codex_cli_rs',
    cli_version: '0.146.0',
  })
const newId = (n) => `019c0000-0000-7000-9000-${String(seed).padStart(6, '0')}${String(n).padStart(6, '0')}`
const named = (id) => join(root, 'sessions', '2026', '02', '05', `rollout-2026-02-05T09-15-00-${id}.jsonl`)

/** Zstandard without compression. */
function zstd(bytes) {
  const blocks = []
  for (let from = 0; from === 0 || from < bytes.length; from += 1 << 17) {
    const block = bytes.subarray(from, from + (1 << 17))
    const isLast = from + block.length >= bytes.length ? 1 : 0
    const head = Buffer.alloc(3)
    head.writeUIntLE(isLast | (block.length << 3), 0, 3)
    blocks.push(head, block)
  }
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]), ...blocks])
}

const moved = (path, folder) => {
  mkdirSync(folder, { recursive: true })
  renameSync(path, join(folder, basename(path)))
}

function change(n) {
  const all = logs()
  const path = all[below(all.length)]
  const isPlain = path?.endsWith('.jsonl')
  switch (path === undefined ? 0 : below(12)) {
    case 0: {
      const id = newId(n)
      mkdirSync(dirname(named(id)), { recursive: true })
      return writeFileSync(named(id), `${headerOf(id, n)}\n${said(n)}\n`)
    }
    case 1:
    case 2:
    case 3: {
      if (!isPlain) return
      const more = `${said(n)}\n${said(n + 1)}\n`
      const cut = below(more.length)
      appendFileSync(path, more.slice(0, cut))
      if (below(4) > 0) appendFileSync(path, more.slice(cut))
      return
    }
    case 4:
      return isPlain ? truncateSync(path, below(readFileSync(path).length)) : undefined
    case 5: {
      if (!isPlain) return
      const lines = readFileSync(path, 'utf8').split('\n')
      writeFileSync(`${path}.new`, `${[lines[0], said(n), ...lines.slice(1 + below(lines.length))].join('\n')}`)
      return renameSync(`${path}.new`, path)
    }
    case 6:
      return isPlain ? writeFileSync(path, `${headerOf(newId(n), n)}\n${said(n)}\n`) : undefined
    case 7:
      return rmSync(path)
    case 8:
      return moved(path, join(root, 'sessions', '2026', '02', `0${1 + below(8)}`))
    case 9: {
      if (!isPlain) return
      writeFileSync(`${path}.zst`, zstd(readFileSync(path)))
      return rmSync(path)
    }
    case 10:
      return moved(path, join(root, 'archived_sessions'))
    default: {
      const archive = join(root, 'archived_sessions')
      mkdirSync(archive, { recursive: true })
      return dirname(path) === archive ? undefined : cpSync(path, join(archive, basename(path)))
    }
  }
}

for (let n = 0; n < Number(steps); n++) {
  change(n * 2)
  if (Number(pause) > 0) await new Promise((done) => setTimeout(done, Number(pause)))
}
