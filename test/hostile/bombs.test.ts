/** Small compressed files that expand enormously: memory stays bounded, and the report says what was left out. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder, text, user } from '../support/codex-log.ts'
import { fumiPath } from '../support/run-fumi.ts'

const BLOCK = 128 * 1024
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd]

const block = (size: number, kind: 0 | 1, isLast: boolean, content: Uint8Array): Buffer => {
  const header = (size << 3) | (kind << 1) | (isLast ? 1 : 0)
  return Buffer.concat([Buffer.from([header & 255, (header >> 8) & 255, header >> 16]), content])
}

/** A hand-made Zstandard frame. @param window its descriptor: the exponent above 10, in the upper five bits */
function frame(window: number, before: string, repeats: number): Buffer {
  const head = Buffer.from(before)
  const again = Array.from({ length: repeats }, (_, at) => block(BLOCK, 1, at === repeats - 1, Buffer.from('a')))
  return Buffer.concat([Buffer.from([...MAGIC, 0, window]), block(head.length, 0, repeats === 0, head), ...again])
}

const ONE_MEGABYTE = 10 << 3
const TWO_GIGABYTES = 21 << 3

/** The program's output and its peak memory in MB. */
function normalized(bytes: Uint8Array): { readonly out: string; readonly err: string; readonly mb: number } {
  const folder = tempFolder()
  const path = join(folder, 'rollout-2026-02-03T09-15-00-bomb.jsonl.zst')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, bytes)
  const peak = "process.on('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS))"
  const preload = `data:text/javascript,${encodeURIComponent(peak)}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, fumiPath, 'normalize', path], {
    encoding: 'utf8',
    env: { ...process.env, FUMI_HOME: join(folder, 'fumi'), NO_COLOR: '1' },
    maxBuffer: 1 << 28,
  })
  const mb = Number(/peak (\d+)/.exec(stderr)?.[1]) / 1024
  return { out: stdout, err: stderr, mb }
}

test('a window of two gigabytes is refused before memory is allocated', () => {
  const { out, err, mb } = normalized(
    Buffer.concat([frame(ONE_MEGABYTE, text([user(1, 'Hello')]), 0), frame(TWO_GIGABYTES, text([user(2, 'Lost')]), 0)]),
  )
  expect(out).toContain('Hello')
  expect(out).not.toContain('Lost')
  expect(err).toContain('asks for more memory or time')
  expect(mb).toBeLessThan(400)
})

test('a line of 400 MB from 12 KB is an issue, and takes little memory', () => {
  const { out, err, mb } = normalized(frame(ONE_MEGABYTE, text([user(1, 'Hello')]), 3000))
  expect(out).toContain('Hello')
  expect(err).toContain('too long')
  expect(mb).toBeLessThan(700)
})
