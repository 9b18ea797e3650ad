/** Real agents, set up by `fumi mcp install`, call our tool because a scripted model tells them to. Run by `npm run live`. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decision, record } from '../memory/recorded-sessions.ts'
import { tempFolder } from '../support/codex-log.ts'
import { fumiPath, fumiProcess } from '../support/run-fumi.ts'
import { testHome } from '../support/test-home.ts'
import { install, PROGRAMS } from './programs.ts'
import { scriptedModel } from './scripted-model.ts'

/** Qwen Code offers the tools of MCP servers only after a search of its own, which the script does not make. */
const WITH_MCP = PROGRAMS.filter(({ agent }) => agent === 'gemini')

describe.each(WITH_MCP)('$packageName', (program) => {
  const found = install(program)
  if ('missing' in found) console.log(`skipped: ${found.missing}`)
  const path = 'path' in found ? found.path : ''

  test.skipIf(path === '')('recalls what another agent decided', async () => {
    const root = realpathSync(tempFolder())
    const work = join(root, 'work')
    mkdirSync(work)
    const home = testHome({}, root)
    record(home, decision)
    home.app.close()
    const model = await scriptedModel({
      word: 'remember',
      isTool: (name) => (/fumibako/.test(name) ? /search$/.test(name) : name === 'search'),
      arguments: { query: 'lighthouse cache Postgres', project: 'all' },
    })
    const bin = join(root, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'fumi'), `#!/bin/sh\nexec '${process.execPath}' '${fumiPath}' "$@"\n`)
    chmodSync(join(bin, 'fumi'), 0o755)
    const clean = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(?:GEMINI|GOOGLE|OPENAI|QWEN|CODEX|XDG|npm)_/i.test(name)),
    )
    const PATH = [bin, dirname(path), process.env['PATH'] ?? ''].join(delimiter)
    const env = {
      ...clean,
      HOME: root,
      FUMI_HOME: join(root, 'fumi'),
      PATH,
      PWD: work,
      ...program.prepare(root, model.address),
    }
    const added = fumiProcess(['mcp', 'install', '--for', program.agent, '--yes'], { env, cwd: work })
    expect(added.code, added.err).toBe(0)
    const child = spawn(path, program.turn('Please remember the lighthouse.', undefined), {
      cwd: work,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect(code, output).toBe(0)
    const results = model.takeRequests().flatMap((sent) => sent.filter(({ role }) => role === 'tool'))
    expect(results.map(({ text }) => text).join('\n'), output).toContain(
      'Decided: the lighthouse cache moves to Postgres',
    )
  })
})
