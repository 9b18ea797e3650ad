/**
 * A new agent is one folder: once added, its logs are found, read, searched and exported; once removed, they are not.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test('a new agent is one folder, and nothing else changes', () => {
  const app = tempFolder()
  const home = tempFolder()
  cpSync(join(ROOT, 'dist/bin'), join(app, 'dist/bin'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(app, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'), 'junction')
  mkdirSync(join(home, '.tiny'))
  writeFileSync(join(home, '.tiny', 'tea.txt'), 'me: How long does green tea steep?\nit: Two minutes, at 80 degrees.\n')
  const fumi = (...words: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: home, FUMI_HOME: join(home, 'fumi'), NO_COLOR: '1', TZ: 'UTC' }
    return spawnSync(process.execPath, [join(app, 'dist/bin/fumi.js'), ...words], { env, encoding: 'utf8' }).stdout
  }

  const folder = join(app, 'dist/bin/agents/tiny')
  mkdirSync(folder)
  writeFileSync(join(folder, 'agent.js'), compiled('test/support/tiny-agent.ts'))
  expect(fumi('list')).toMatch(/tiny:tea\tHow long does green tea steep\?/)
  expect(fumi('search', '80 degrees')).toContain('Two minutes, at 80 degrees.')
  expect(fumi('export', 'tiny:tea')).toContain('Two minutes, at 80 degrees.')
  expect(fumi('config', 'agents.tiny')).toContain('agents.tiny.enabled')

  rmSync(folder, { recursive: true })
  expect(fumi('config')).not.toContain('tiny')
})

const compiled = (path: string): string =>
  ts.transpileModule(readFileSync(join(ROOT, path), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  }).outputText
