/** Completion scripts and the manual page, generated from the help. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { tempFolder } from '../support/codex-log.ts'
import { fumiProcess } from '../support/run-fumi.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const script = (shell: string): string => fumiProcess(['completion', shell]).out

describe('completion', () => {
  test('in bash completes commands, options and their values', () => {
    const complete = (...words: readonly string[]): readonly string[] => {
      const quoted = words.map((word) => `'${word}'`).join(' ')
      const run = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _fumi; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout, stderr } = spawnSync('bash', ['-c', `${bash}\n${run}`], { encoding: 'utf8' })
      expect(stderr).toBe('')
      return stdout.trim().split('\n')
    }
    const bash = script('bash')
    expect(complete('fumi', 'ch')).toEqual(['chat'])
    expect(complete('fumi', 'chat', '--res')).toEqual(['--resume'])
    expect(complete('fumi', 'chat', '--reasoning-effort', 'm')).toEqual(['minimal', 'medium', 'max'])
    expect(complete('fumi', 'completion', 'z')).toEqual(['zsh'])
  })

  test('for zsh and fish names every command and quotes its help', () => {
    const [zsh, fish] = [script('zsh'), script('fish')]
    for (const command of ['chat', 'login', 'search', 'handoff']) {
      expect(zsh).toMatch(new RegExp(`^ {4}'${command}:`, 'm'))
      expect(fish).toContain(`-a ${command} -d '`)
    }
    expect(zsh).toMatch(/'\*--template\[put the prompt/)
    expect(fish).toMatch(/-s t -l template -r -d 'put the prompt/)
    for (const text of [zsh, fish]) expect(text.replaceAll(`'\\''`, '').split("'").length % 2).toBe(1)
  })

  test('an unknown shell is an error that names the known ones', () => {
    expect(fumiProcess(['completion', 'csh'])).toMatchObject({ code: 2, err: expect.stringMatching(/bash, zsh, fish/) })
  })
})

test('the packed package runs after it is unpacked, and brings the manual page', () => {
  const folder = tempFolder()
  const pack = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ filename }] = JSON.parse(pack.stdout) as [{ filename: string }]
  spawnSync('tar', ['-xzf', join(folder, filename), '-C', folder])
  const root = join(folder, 'package')
  // As npm would install the dependencies.
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  mkdirSync(join(folder, 'home'))
  const { bin, man, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly bin: { readonly fumi: string }
    readonly man: readonly string[]
    readonly version: string
  }
  const env = { ...process.env, HOME: join(folder, 'home'), FUMI_HOME: join(folder, 'data') }
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(root, bin.fumi), ...args], { env, encoding: 'utf8' })
  expect(run('--version').stdout).toBe(`${version}\n`)
  expect(run('list', '--json')).toMatchObject({ stderr: expect.not.stringContaining('Cannot find') })
  // npm links the pages of a list, and ignores a single path.
  expect(man).toHaveLength(1)
  const page = readFileSync(join(root, man[0] ?? ''), 'utf8')
  expect(page).toMatch(/^\.TH FUMI 1/)
  expect(page).toContain('.SS fumi chat [options] [prompt]')
})
