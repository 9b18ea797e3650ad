/** The history of a project stays together when it is renamed, moved or opened in a work tree. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listMovedProjects, relinkProject } from '../../src/app.ts'
import { header, tempFolder, text, user } from '../support/codex-log.ts'
import { threadOf } from '../support/many-logs.ts'
import { fumi } from '../support/run-fumi.ts'
import { rollout, type TestHome, testHome } from '../support/test-home.ts'

const projectsOf = ({ app }: TestHome): readonly (string | undefined)[] =>
  app
    .list()
    .sessions.map(({ id, project }) => `${id.slice(-1)} ${project}`)
    .sort()

function chatIn({ write }: TestHome, n: number, cwd: string): void {
  write(rollout(threadOf(n)), text([header({ id: threadOf(n), cwd }), user(n, `Number ${n}.`)]))
}

test('a renamed folder is noticed by the next conversation in it', async () => {
  const home = testHome()
  const folder = realpathSync(tempFolder())
  const [old, now] = [join(folder, 'old'), join(folder, 'new')]
  mkdirSync(join(old, 'src'), { recursive: true })
  chatIn(home, 1, old)
  chatIn(home, 2, join(old, 'src'))
  await home.app.sync()
  expect(projectsOf(home)).toEqual([`1 ${old}`, `2 ${join(old, 'src')}`])
  renameSync(old, now)
  chatIn(home, 3, now)
  await home.app.sync()
  expect(projectsOf(home)).toEqual([`1 ${now}`, `2 ${join(now, 'src')}`, `3 ${now}`])
  expect(home.app.list({ project: now }).total).toBe(3)
  await home.app.sync({ full: true })
  expect(projectsOf(home)).toEqual([`1 ${now}`, `2 ${join(now, 'src')}`, `3 ${now}`])
})

test('another folder at the old path is another project', async () => {
  const home = testHome()
  const folder = realpathSync(tempFolder())
  const [old, now] = [join(folder, 'old'), join(folder, 'new')]
  mkdirSync(old)
  chatIn(home, 1, old)
  await home.app.sync()
  renameSync(old, now)
  mkdirSync(old)
  chatIn(home, 2, now)
  await home.app.sync()
  expect(projectsOf(home)).toEqual([`1 ${old}`, `2 ${now}`])
})

test('work trees belong to their repository', async () => {
  const home = testHome()
  const folder = realpathSync(tempFolder())
  const [main, tree] = [join(folder, 'main'), join(folder, 'trees', 'feature')]
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { stdio: 'ignore' })
  git('init', main)
  git('-C', main, 'commit', '--allow-empty', '-m', 'first')
  git('-C', main, 'worktree', 'add', tree)
  mkdirSync(join(tree, 'sub'))
  chatIn(home, 1, main)
  chatIn(home, 2, join(tree, 'sub'))
  await home.app.sync()
  expect(projectsOf(home)).toEqual([`1 ${main}`, `2 ${join(main, 'sub')}`])
})

test('relink moves what was said elsewhere, and can be undone', async () => {
  const home = testHome()
  const { app } = home
  chatIn(home, 1, '/gone/app')
  chatIn(home, 2, '/gone/app/sub')
  chatIn(home, 3, '/gone/app-2')
  await app.sync()
  expect(relinkProject(app.directory, '/gone/app', '/here/app')).toBe(2)
  expect(projectsOf(home)).toEqual(['1 /here/app', '2 /here/app/sub', '3 /gone/app-2'])
  expect(listMovedProjects(app.directory)).toContainEqual({ old: '/gone/app', new: '/here/app' })
  relinkProject(app.directory, '/here/app', '/gone/app')
  expect(projectsOf(home)).toHaveLength(3)
  relinkProject(app.directory, '/here/app', undefined)
  chatIn(home, 4, '/gone/app')
  await app.sync()
  expect(projectsOf(home)).toEqual(['1 /here/app', '2 /here/app/sub', '3 /gone/app-2', '4 /here/app'])
  expect(relinkProject(app.directory, '/gone/app', undefined)).toBe(3)
  expect(projectsOf(home)).toEqual(['1 /gone/app', '2 /gone/app/sub', '3 /gone/app-2', '4 /gone/app'])
})

test('a directory without sessions is reported, and how to undo it', () => {
  const home = tempFolder()
  const env = { HOME: home, FUMI_HOME: join(home, 'fumi'), CODEX_HOME: join(home, 'codex'), XDG_DATA_HOME: home }
  const { code, out, err } = fumi(['relink', '/gone/ap', '/here/app'], { env })
  expect({ code, out }).toEqual({ code: 0, out: '' })
  expect(err).toMatch(/^No session took place in \/gone\/ap so far.*fumi relink \/gone\/ap --undo\.\n$/)
})
