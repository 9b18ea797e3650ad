/** Logs made to exhaust memory are read within bounds and reported. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assistant, header, tempFolder, text, user } from '../support/codex-log.ts'
import { fumiPath } from '../support/run-fumi.ts'

const BLOCK = 128 * 1024
const GIGABYTE = 1 << 30
const ONE_MEGABYTE = 10 << 3

const block = (size: number, kind: 0 | 1, isLast: boolean, content: Uint8Array): Buffer => {
  const head = (size << 3) | (kind << 1) | (isLast ? 1 : 0)
  return Buffer.concat([Buffer.from([head & 255, (head >> 8) & 255, head >> 16]), content])
}

/** A hand-made Zstandard frame: raw block, a repeated letter, raw block. @param window its descriptor */
function frame(window: number, before: string, letters: number, after: string): Buffer {
  const [head, tail] = [Buffer.from(before), Buffer.from(after)]
  const again = Array.from({ length: Math.ceil(letters / BLOCK) }, () => block(BLOCK, 1, false, Buffer.from('a')))
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, window]),
    block(head.length, 0, false, head),
    ...again,
    block(tail.length, 0, true, tail),
  ])
}

const BEFORE = `${text([header(), user(1, 'Before it')])}${assistant(2, '@').split('@')[0]}`
const AFTER = `${assistant(2, '@').split('@')[1]}\n${text([user(3, 'Behind it')])}`

function writePlain(path: string): void {
  const file = openSync(path, 'w')
  writeSync(file, BEFORE)
  const letters = Buffer.alloc(1 << 24, 'a')
  for (let left = GIGABYTE; left > 0; left -= letters.length) writeSync(file, letters)
  writeSync(file, AFTER)
  closeSync(file)
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly mb: number
}

/** Includes the peak memory of all threads. */
function ran(home: string, ...args: readonly string[]): Ran {
  const peak = "process.on('exit', () => process.stderr.write('\\npeak ' + process.resourceUsage().maxRSS))"
  const preload = `data:text/javascript,${encodeURIComponent(peak)}`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', preload, fumiPath, ...args], {
    encoding: 'utf8',
    env: { ...process.env, HOME: home, FUMI_HOME: join(home, 'fumi'), NO_COLOR: '1' },
    maxBuffer: 1 << 28,
  })
  return { code: status, out: stdout, err: stderr, mb: Math.round(Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024) }
}

const SESSION = 'codex:019c0000-0000-7000-8000-000000000001'

for (const kind of ['plain', 'compressed'] as const)
  test(`a ${kind} line of one gigabyte takes bounded memory in every command`, async ({ annotate }) => {
    const home = tempFolder()
    const folder = join(home, '.codex', 'sessions', '2026', '02', '03')
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `rollout-2026-02-03T09-15-00-long.jsonl${kind === 'plain' ? '' : '.zst'}`)
    if (kind === 'plain') writePlain(path)
    else writeFileSync(path, frame(ONE_MEGABYTE, BEFORE, GIGABYTE, AFTER))
    const commands: readonly (readonly string[])[] = [
      ['sync'],
      ['list'],
      ['show', SESSION],
      ['search', 'Behind'],
      ['normalize', path],
      ['validate', path],
      ['convert', path, '--to', 'openai', '-o', join(home, 'out.json')],
    ]
    for (const args of commands) {
      const { code, out, err, mb } = ran(home, ...args)
      await annotate(`${kind} ${args[0]}: exit ${code}, ${mb} MB`)
      expect({ args, code }).toEqual({ args, code: args[0] === 'validate' ? 1 : 0 })
      expect(mb).toBeLessThan(600)
      if (args[0] === 'show' || args[0] === 'normalize') expect(out).toContain('Behind it')
      if (args[0] === 'normalize') expect(err).toContain('too long')
    }
  })

test('many small frames that each open a large window are refused in time, and do not add up', () => {
  const home = tempFolder()
  const path = join(home, 'rollout-2026-02-03T09-15-00-bomb.jsonl.zst')
  const many = Array.from({ length: 300 }, () => frame(16 << 3, '', 0, '\n'))
  writeFileSync(path, Buffer.concat([frame(ONE_MEGABYTE, text([user(1, 'Hello')]), 0, ''), ...many]))
  const { out, err, mb } = ran(home, 'normalize', path)
  expect(out).toContain('Hello')
  expect(err).toContain('asks for more memory or time')
  expect(mb).toBeLessThan(1000)
})

test('two logs of 140 KB whose windows are large take no more than one', () => {
  const home = tempFolder()
  const folder = join(home, '.codex', 'sessions')
  mkdirSync(folder, { recursive: true })
  for (const name of ['a', 'b'])
    writeFileSync(
      join(folder, `rollout-2026-02-03T09-15-00-${name}.jsonl.zst`),
      frame(21 << 3, BEFORE, 35_000 * BLOCK, AFTER),
    )
  const { mb, code } = ran(home, 'sync')
  expect(code).toBe(0)
  expect(mb).toBeLessThan(600)
})
