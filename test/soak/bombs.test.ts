/** Small files that unpack to more than a machine holds: they are read within bounds, and said to be what they are. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Issue } from '../../src/model/issue.ts'
import { normalize } from '../../src/normalize.ts'
import { tempFolder, text, user } from '../support/log.ts'

const BLOCK = 128 * 1024

test('a compressed log that unpacks to one endless line is an issue, and what stands before it is read', async () => {
  const path = join(tempFolder(), 'rollout-2026-02-03T09-15-00-bomb.jsonl.zst')
  const bytes = bomb(text([user(1, 'Hello')]), 'a', 600_000_000)
  expect(bytes.length).toBeLessThan(50_000)
  writeFileSync(path, bytes)
  const issues: Issue[] = []
  const said: string[] = []
  for await (const { segments } of normalize(path, { onIssue: (issue) => issues.push(issue) }))
    said.push(...segments.map((segment) => segment.text ?? ''))
  expect(said).toEqual(['Hello'])
  expect(issues.map(({ code }) => code)).toContain('line_too_long')
  expect(process.memoryUsage().rss).toBeLessThan(1_500_000_000)
})

/** A frame of Zstandard by hand: a raw block, then as many blocks of one repeated letter as it takes. */
function bomb(before: string, letter: string, length: number): Uint8Array {
  const head = Buffer.from(before)
  const block = (size: number, kind: number, isLast: boolean, content: Uint8Array): Buffer => {
    const header = (size << 3) | (kind << 1) | (isLast ? 1 : 0)
    return Buffer.concat([Buffer.from([header & 255, (header >> 8) & 255, header >> 16]), content])
  }
  const count = Math.ceil(length / BLOCK)
  const again = Array.from({ length: count }, (_, at) => block(BLOCK, 1, at === count - 1, Buffer.from(letter)))
  // Magic number, no sizes or check sums, a window of one megabyte.
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]),
    block(head.length, 0, false, head),
    ...again,
  ])
}
