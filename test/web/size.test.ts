/** A browser loads little before the list appears. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const PAGE = join(import.meta.dirname, '..', '..', 'dist', 'web')
const MOST = 120_000

test('the first screen is at most 120 KB, packed', () => {
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8')
  const files = Array.from(html.matchAll(/(?:src|href)="\/([^"]+)"/g), ([, path]) => path ?? '')
  // Scripts loaded immediately are listed in the document.
  expect(files.filter((path) => path.endsWith('.js'))).not.toEqual([])
  const sizes = ['index.html', ...files].map((path) => gzipSync(readFileSync(join(PAGE, path))).length)
  const sum = sizes.reduce((all, size) => all + size, 0)
  expect(sum).toBeLessThan(MOST)
})

test('nothing is inline, and nothing comes from elsewhere', () => {
  const html = readFileSync(join(PAGE, 'index.html'), 'utf8')
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\bstyle=/)
  expect(html).not.toMatch(/(?:src|href)="(?!\/)/)
  for (const name of readdirSync(join(PAGE, 'assets')).filter((one) => one.endsWith('.css')))
    expect(readFileSync(join(PAGE, 'assets', name), 'utf8')).not.toMatch(/@import|url\(/)
})
