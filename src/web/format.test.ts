import { expect, test } from 'vitest'
import {
  bytes,
  dayName,
  daysBetween,
  dollars,
  duration,
  homeRelativePath,
  pathBaseName,
  percent,
  short,
} from './format.ts'

test('numbers are short and never round up to a unit that they do not reach', () => {
  expect([0, 950, 999, 1000, 9_940, 9_960, 48_000, 999_499, 999_500, 1_234_567, 212_000_000, 3.4e9].map(short)).toEqual(
    ['0', '950', '999', '1.0k', '9.9k', '10k', '48k', '999k', '1.0M', '1.2M', '212M', '3.4G'],
  )
  expect([0, 999, 1000, 48_200, 9.1e9, 999_600].map(bytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KB',
    '48 KB',
    '9.1 GB',
    '1.0 MB',
  ])
  expect(percent(0.876)).toBe('88 %')
})

test('costs show that some prices are unknown', () => {
  expect(dollars({ usd: 0, unpriced_tokens: 5 })).toBe('')
  expect(dollars({ usd: 0.001, unpriced_tokens: 0 })).toBe('<$0.01')
  expect(dollars({ usd: 0.84, unpriced_tokens: 0 })).toBe('$0.84')
  expect(dollars({ usd: 1204.4, unpriced_tokens: 7 })).toBe('$1,204+')
})

test('times go from seconds to days', () => {
  expect([200, 41_000, 59_600, 720_000, 3_600_000, 11_100_000, 180_000_000].map(duration)).toEqual([
    '0.2 s',
    '41 s',
    '1 m',
    '12 m',
    '1 h',
    '3 h 5 m',
    '2 d',
  ])
  expect(daysBetween('2026-02-28', '2026-03-01')).toBe(1)
  expect(dayName('2026-11-15', '2026-11-20', 'en')).toBe('Sunday, November 15')
  expect(dayName('2025-11-15', '2026-11-20', 'en')).toContain('2025')
})

test('paths are named by their last part, home folders by a tilde', () => {
  expect(pathBaseName('/home/aki/kettle/')).toBe('kettle')
  expect(pathBaseName('C:\\work\\app')).toBe('app')
  expect(homeRelativePath('/home/aki/kettle')).toBe('~/kettle')
  expect(homeRelativePath('/homestead/x')).toBe('/homestead/x')
})
