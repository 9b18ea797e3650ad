/** A server whose program was updated reports that, instead of a bug. */
import { spawn } from 'node:child_process'
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('a page file that is missing on first load is reported as an update', async () => {
  const folder = tempFolder()
  for (const name of ['dist', 'samples', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const child = spawn(process.execPath, [join(folder, 'dist/bin/fumi.js'), '--no-open', '--no-auth', '--port', '0'], {
    env: { ...process.env, HOME: tempFolder(), FUMI_HOME: tempFolder() },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    let out = ''
    for await (const piece of child.stdout) {
      out += String(piece)
      if (out.includes('Ctrl+C')) break
    }
    const link = /http:\S+/.exec(out)?.[0] ?? ''
    rmSync(join(folder, 'dist/bin/chunks'), { recursive: true })
    const reply = await fetch(new URL('/api/search?q=anything', link))
    expect(reply.status).toBe(500)
    expect(await reply.json()).toMatchObject({
      errors: [{ detail: 'fumibako was updated while it was running. Restart it.' }],
    })
  } finally {
    child.kill('SIGKILL')
  }
})
