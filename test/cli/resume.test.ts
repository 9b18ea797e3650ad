/** Resuming a session in its program. A small script replaces each program. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeStore, stateOf } from '../support/amazon-q-store.ts'
import { header, THREAD, tempFolder, text, user } from '../support/codex-log.ts'
import { fumi } from '../support/run-fumi.ts'

function machine(cwdName = 'work') {
  const home = realpathSync(tempFolder())
  const cwd = join(home, cwdName)
  const bin = join(home, 'bin')
  const env = {
    HOME: home,
    FUMI_HOME: join(home, 'fumi'),
    CODEX_HOME: join(home, 'codex'),
    XDG_DATA_HOME: join(home, 'data'),
    PATH: bin,
  }
  for (const folder of [cwd, bin, join(env.CODEX_HOME, 'sessions')]) mkdirSync(folder, { recursive: true })
  const log = (id = THREAD, place = cwd) =>
    writeFileSync(
      join(env.CODEX_HOME, 'sessions', 'rollout-2026-02-03T09-15-00-test.jsonl'),
      text([header({ cwd: place, id }), user(1, 'Go on.')]),
    )
  /** Prints how it was called, then runs the given commands. */
  const install = (program: string, rest = 'exit 0', mode = 0o755) => {
    writeFileSync(join(bin, program), `#!/bin/sh\n{ pwd; printf '%s\\n' "$@"; } > "$HOME/called"\n${rest}\n`)
    chmodSync(join(bin, program), mode)
  }
  const called = (): readonly string[] => readFileSync(join(home, 'called'), 'utf8').trimEnd().split('\n')
  const run = (args: readonly string[], options = {}) => fumi(['resume', ...args], { env, ...options })
  return { home, cwd, env, log, install, called, run }
}

describe.skipIf(process.platform === 'win32')('fumi resume', () => {
  test('runs the program in the directory of the session, with its terminal and its exit code', () => {
    const { cwd, log, install, called, run } = machine()
    log()
    install('codex', 'read line; echo "heard $line"; exit 7')
    expect(run(['codex:019c0000'], { input: 'hello\n' })).toEqual({ code: 7, out: 'heard hello\n', err: '' })
    expect(called()).toEqual([cwd, 'resume', THREAD])
  })

  test('prints the command so that a shell can run it', () => {
    const { home, cwd, env, log, install, called, run } = machine("it's a $(touch oops) work")
    log()
    const { code, out } = run(['codex:019c0000', '--print'])
    expect(code).toBe(0)
    install('codex')
    spawnSync('/bin/sh', ['-c', out], { env, cwd: home })
    expect(called()).toEqual([cwd, 'resume', THREAD])
  })

  test('finds the programs of Amazon Q and Kiro', () => {
    const { home, cwd, install, called, run } = machine()
    for (const [folder, program] of [
      ['amazon-q', 'q'],
      ['kiro-cli', 'kiro-cli'],
    ] as const) {
      const store = makeStore(join(home, 'data', folder, 'data.sqlite3'))
      store.put(cwd, stateOf(`${program}-session`, [{ prompt: 'one', answer: 'two' }]))
      store.close()
      install(program)
      expect(run([`${program}-session`]).code).toBe(0)
      expect(called()).toEqual([cwd, 'chat', '--resume'])
    }
  })

  test('reports what is missing: the program, its permission, the directory, the session', () => {
    const { cwd, log, install, run } = machine()
    log()
    expect(run([THREAD])).toMatchObject({ code: 4, err: expect.stringContaining('codex is not installed') })
    install('codex', 'exit 0', 0o644)
    expect(run([THREAD])).toMatchObject({ code: 5, err: expect.stringContaining('No permission to run codex') })
    rmSync(cwd, { recursive: true })
    expect(run([THREAD])).toMatchObject({
      code: 4,
      err: expect.stringContaining(`The session's directory no longer exists: ${cwd}.`),
    })
    expect(run(['codex:nowhere'])).toMatchObject({ code: 4 })
  })

  test('does not resume the session that replaced an ended one', () => {
    const { home, cwd, env, install, run } = machine()
    const store = makeStore(join(home, 'data', 'amazon-q', 'data.sqlite3'))
    store.put(cwd, stateOf('11111111-aaaa', [{ prompt: 'one', answer: 'two' }]))
    fumi(['keep'], { env })
    store.put(cwd, stateOf('22222222-bbbb', [{ prompt: 'three', answer: 'four' }]))
    fumi(['keep'], { env })
    install('q')
    expect(run(['11111111'])).toMatchObject({ code: 4, err: expect.stringContaining('fumi restore amazon-q:11111111') })
    expect(run(['22222222']).code).toBe(0)
    store.close()
  })

  test('passes no option from a log to a program', () => {
    const { log, install, run } = machine()
    log('--dangerous')
    install('codex')
    expect(run(['codex:--dangerous'])).toMatchObject({ code: 2 })
  })

  test('ignores directories that depend on the current one', () => {
    const { home, log, install, run } = machine()
    install('codex')
    for (const place of ['-', 'work', '~/work', '../work', '']) {
      log(THREAD, place)
      for (const more of [[], ['--print']]) {
        const { code, out } = run([THREAD, ...more], { cwd: home })
        if (place !== '') expect([place, code, out]).toEqual([place, 2, ''])
        else expect(out).not.toContain('cd ')
      }
    }
  })

  test('takes no program from the directory of a session', () => {
    const { home, cwd, env, log, run } = machine()
    log()
    writeFileSync(join(cwd, 'codex'), '#!/bin/sh\necho hostile\n')
    chmodSync(join(cwd, 'codex'), 0o755)
    const PATH = `.::work:${env.PATH}`
    for (const at of [home, cwd])
      expect(run([THREAD], { cwd: at, env: { ...env, PATH } })).toMatchObject({
        code: 4,
        out: '',
        err: expect.stringContaining('codex is not installed'),
      })
  })

  test('prints no terminal control sequences', () => {
    const { home, env, log, install, called, run } = machine()
    const place = join(home, 'a\u001b[201~\n\u202eb\u0007')
    mkdirSync(place)
    log(THREAD, place)
    install('codex')
    const { code, out } = run([THREAD, '--print'])
    expect(code).toBe(0)
    expect(out.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    spawnSync('/bin/bash', ['-c', out], { env: { ...env, LC_ALL: 'C.UTF-8' }, cwd: home })
    expect(called().slice(0, -2).join('\n')).toBe(place)
  })
})
