import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sharedFolder } from '../support/shared-material.ts'
import { checkFolder } from './check.ts'

async function faultsIn(folder: string): Promise<{ readonly held: number; readonly faults: readonly string[] }> {
  const checked = await checkFolder(folder)
  const faults = checked.filter(({ fault }) => fault !== undefined).map(({ name, fault }) => `${name}: ${fault}`)
  return { held: checked.length - faults.length, faults }
}

test('own vectors pass', async () => {
  const { held: openChat, faults } = await faultsIn(join(import.meta.dirname, 'fixtures'))
  expect(faults).toEqual([])
  expect(openChat).toBeGreaterThan(90)
})

describe('the original program', () => {
  const folder = sharedFolder('vectors', 'amazon-q')
  test.skipIf(!folder)('returned what we return', async () => {
    const { held: openChat, faults } = await faultsIn(folder ?? '')
    expect(faults).toEqual([])
    expect(openChat).toBe(623)
  })
})

test('a wrong vector is detected', async () => {
  const { faults } = await faultsIn(join(import.meta.dirname, 'fixtures', 'wrong'))
  expect(faults).toHaveLength(4)
})
