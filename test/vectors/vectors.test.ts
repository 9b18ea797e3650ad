import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { shared } from '../support/shared.ts'
import { checkFolder } from './check.ts'

async function faultsIn(folder: string): Promise<{ readonly held: number; readonly faults: readonly string[] }> {
  const checked = await checkFolder(folder)
  const faults = checked.filter(({ fault }) => fault !== undefined).map(({ name, fault }) => `${name}: ${fault}`)
  return { held: checked.length - faults.length, faults }
}

test('our own vectors hold', async () => {
  const { held, faults } = await faultsIn(join(import.meta.dirname, 'fixtures'))
  expect(faults).toEqual([])
  expect(held).toBeGreaterThan(90)
})

describe('the original program', () => {
  const folder = shared('vectors', 'amazon-q')
  test.skipIf(!folder)('gave what we give', { timeout: 120_000 }, async () => {
    const { held, faults } = await faultsIn(folder ?? '')
    expect(faults).toEqual([])
    expect(held).toBe(623)
  })
})

test('a wrong vector is found out', async () => {
  const { faults } = await faultsIn(join(import.meta.dirname, 'fixtures', 'wrong'))
  expect(faults).toHaveLength(4)
})
