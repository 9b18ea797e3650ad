/** Commands of daily work: permissions, plan mode, git, clipboard, export, references, picking a session. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChatSession } from '../../src/chat/session.ts'
import { isAllowedBy, RuleStore, suggestRule } from '../../src/chat/tools/permission/rules.ts'
import type { CallNeed } from '../../src/chat/tools/tool.ts'
import { parseConsent, renderConsentChoices } from '../../src/cli/chat/output/consent.ts'
import { findMatching, matchSessions } from '../../src/cli/chat/pick-session.ts'
import { untranslated } from '../../src/model/phrase.ts'
import { onCleanup } from '../support/cleanup.ts'
import { shortSession, tempFolder, text } from '../support/codex-log.ts'
import { answer, calls } from '../support/model-chunks.ts'
import { chatServer, json, type Reply } from '../support/model-server.ts'
import { rollout, testHome } from '../support/test-home.ts'
import { answerText, endingOf, outputText, sendLine } from './support/chat-session.ts'
import { openTestChat } from './support/open-chat.ts'

const need = (more: Partial<CallNeed>): CallNeed => ({ level: 'changes', summary: untranslated('x'), ...more })
const bash = (command: string): Reply => calls([{ name: 'execute_bash', args: { command } }])
const write = (path: string, file_text: string): Reply =>
  calls([{ name: 'fs_write', args: { command: 'create', path, file_text } }])

async function openChat(
  replies: readonly Reply[],
  more: { readonly data?: string; readonly cwd?: string } = {},
): Promise<ChatSession> {
  const { cwd = tempFolder(), ...rest } = more
  const { session } = await openTestChat({ server: await chatServer(...replies), cwd, trustAll: false, ...rest })
  return session
}

function gitProject(): string {
  const cwd = realpathSync(tempFolder())
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd })
  git('init', '-q')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.com')
  writeFileSync(join(cwd, 'tea.txt'), 'green\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  return cwd
}

describe('rules of the user', () => {
  test.each([
    ['git status --short', { kind: 'command', words: ['git', 'status'] }],
    ['npm run build -- --watch', { kind: 'command', words: ['npm', 'run', 'build'] }],
    ['ls -l src', { kind: 'exact', words: ['ls', '-l', 'src'] }],
    ['git -c core.pager=x log', { kind: 'exact', words: ['git', '-c', 'core.pager=x', 'log'] }],
    ['git status; rm x', undefined],
    ['npm test | tee log', undefined],
    ['npm test $X', undefined],
  ])('%s', (command, rule) => expect(suggestRule(need({ command }))).toEqual(rule))

  test('allow every command of a pipe, complete words only, and never what is dangerous or stale', () => {
    const rules = [{ kind: 'command', words: ['git', 'status'] } as const, { kind: 'exact', words: ['ls'] } as const]
    const allowed = (command: string) => isAllowedBy(need({ command }), rules)
    expect(['git status', 'git status -s', 'ls', 'git status | ls'].map(allowed)).toEqual([true, true, true, true])
    expect(
      ['git statusx', 'git', 'ls -l', 'git status | sh', 'git status && ls', 'git status > x', '/tmp/git status'].map(
        allowed,
      ),
    ).toEqual(Array.from({ length: 7 }, () => false))
    expect(suggestRule(need({ level: 'dangerous', command: 'git push --force' }))).toBeUndefined()
    const paths = [{ named: '/w/src/a.ts', real: '/w/src/a.ts' }]
    const below = [{ kind: 'directory', path: '/w/src' } as const]
    expect(suggestRule(need({ paths }))).toEqual(below[0])
    expect(isAllowedBy(need({ paths }), below)).toBe(true)
    expect(isAllowedBy(need({ paths: [{ named: '/w/src/../b', real: '/w/b' }] }), below)).toBe(false)
    expect(isAllowedBy(need({ paths, stale: { path: '/w/src/a.ts', diff: '' } }), below)).toBe(false)
  })

  test('for always are of one directory; a file that others can write has none', () => {
    const data = tempFolder()
    const rule = { kind: 'exact', words: ['ls'] } as const
    new RuleStore(data, '/w').add(rule)
    expect(new RuleStore(data, '/w').rules()).toEqual([rule])
    expect(new RuleStore(data, '/w/sub').rules()).toEqual([])
    const path = join(data, 'permissions.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o666)
    expect(new RuleStore(data, '/w').rules()).toEqual([])
    chmodSync(path, 0o600)
    writeFileSync(path, '{"directories":{"/w":[{"kind":"exact","words":[1]},{"kind":"no"},7]}}')
    expect(new RuleStore(data, '/w').rules()).toEqual([])
  })

  test('are made by answering, apply to the next call and the next chat, and are revoked with /permissions', async () => {
    const [data, cwd] = [tempFolder(), tempFolder()]
    const first = await openChat([bash('touch a.txt'), answer('Done.'), bash('touch a.txt'), answer('Again.')], {
      data,
      cwd,
    })
    let asked = 0
    const allow = (event: { readonly kind: string }) =>
      event.kind === 'consent_needed' && asked++ === 0 ? 'allow_always' : 'no'
    await sendLine(first, 'Go', allow)
    expect(answerText(await sendLine(first, 'Once more', allow))).toBe('Again.')
    expect(asked).toBe(1)
    const next = await openChat([bash('touch a.txt'), answer('Third.')], { data, cwd })
    expect(answerText(await sendLine(next, 'And here', allow))).toBe('Third.')
    expect(asked).toBe(1)
    expect(outputText(await sendLine(next, '/permissions'))).toMatch(/1 {2}always here {2}touch a\.txt/)
    expect(outputText(await sendLine(next, '/permissions remove 9'))).toMatch(/No such rule/)
    expect(outputText(await sendLine(next, '/permissions remove 1'))).toMatch(/Asks again: touch a\.txt/)
    expect(outputText(await sendLine(next, '/permissions'))).toContain('No rules.')
    await sendLine(next, '/permissions clear')
  })

  test('are offered in the question, and the letters mean nothing where they are not', () => {
    const rule = suggestRule(need({ command: 'npm test' }))
    expect(renderConsentChoices('execute_bash', false, 200, rule)).toContain('s allow "npm test …" in this chat')
    expect(renderConsentChoices('execute_bash', false, 200)).not.toContain('s allow')
    expect([parseConsent('s', true), parseConsent('a', true)]).toEqual(['allow_session', 'allow_always'])
    expect(parseConsent('s')).toEqual({ text: 's' })
  })
})

describe('/plan', () => {
  test('refuses changes until the plan is approved', async () => {
    const cwd = tempFolder()
    const session = await openChat(
      [write('a.txt', 'x'), answer('The plan.'), write('a.txt', 'x'), answer('Written.')],
      { cwd },
    )
    expect(outputText(await sendLine(session, '/plan go'))).toMatch(/not on/)
    await sendLine(session, '/plan')
    expect(answerText(await sendLine(session, 'Add a file'))).toBe('The plan.')
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
    expect(answerText(await sendLine(session, '/plan go'))).toBe('Written.')
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('x\n')
    await sendLine(session, '/plan')
    expect(outputText(await sendLine(session, '/plan off'))).toMatch(/off/)
  })
})

test('/changes lists what the agent wrote, and what you changed since', async () => {
  const cwd = gitProject()
  const session = await openChat([write('tea.txt', 'black\nstrong\n'), answer('Changed.')], { cwd })
  expect(outputText(await sendLine(session, '/changes'))).toMatch(/has not written any files/)
  await sendLine(session, 'Black, please')
  expect(outputText(await sendLine(session, '/changes'))).toMatch(/tea\.txt +agent \+2 -1, you \+0\n/)
  writeFileSync(join(cwd, 'tea.txt'), 'black\nstrong\nhot\n')
  expect(outputText(await sendLine(session, '/changes'))).toMatch(/tea\.txt .*, changed later/)
})

describe('git', () => {
  test('/diff shows changes and new files; /undo takes the last turn back', async () => {
    const cwd = gitProject()
    const session = await openChat([write('tea.txt', 'black\n'), answer('Changed.')], { cwd })
    expect(outputText(await sendLine(session, '/diff'))).toBe('No changes.\n')
    expect(outputText(await sendLine(session, '/undo'))).toMatch(/No turn has changed files/)
    expect(endingOf(await sendLine(session, 'Black, please'))).toBe('answered')
    writeFileSync(join(cwd, 'new.txt'), '')
    expect(outputText(await sendLine(session, '/diff'))).toMatch(/-green\n\+black\n[\s\S]*new file: new\.txt/)
    expect(outputText(await sendLine(session, '/diff new.txt'))).not.toContain('black')
    expect(outputText(await sendLine(session, '/undo'))).toMatch(/Took back the changes/)
    expect(readFileSync(join(cwd, 'tea.txt'), 'utf8')).toBe('green\n')
    expect(session.state.history.length).toBe(0)
    expect(outputText(await sendLine(await openChat([]), '/diff'))).toMatch(/git|HEAD/)
  })

  test('/commit asks with the proposed message, and commits only after a yes', async () => {
    const cwd = gitProject()
    const proposal = json({
      choices: [{ index: 0, message: { role: 'assistant', content: "Make it black, it's better" } }],
    })
    const session = await openChat([proposal, proposal], { cwd })
    expect(outputText(await sendLine(session, '/commit'))).toMatch(/Nothing to commit/)
    writeFileSync(join(cwd, 'tea.txt'), 'black\n')
    const log = () => execFileSync('git', ['log', '--format=%s'], { cwd, encoding: 'utf8' }).trim()
    const declined = await sendLine(session, '/commit', () => 'no')
    expect([outputText(declined), log()]).toEqual(['Not committed.\n', 'first'])
    expect(declined).toContainEqual(
      expect.objectContaining({
        kind: 'consent_needed',
        need: expect.objectContaining({ command: expect.stringContaining('Make it black') }),
      }),
    )
    await sendLine(session, '/commit')
    expect(log()).toBe("Make it black, it's better\nfirst")
    writeFileSync(join(cwd, 'tea.txt'), 'white\n')
    await sendLine(session, '/commit Say "white"')
    expect(log().split('\n')[0]).toBe('Say "white"')
    expect(session.state.history.length).toBe(0)
  })
})

describe('references', () => {
  test('@diff, @folder/ and @session: are attached; what cannot be read is said', async () => {
    const cwd = gitProject()
    mkdirSync(join(cwd, 'src'))
    writeFileSync(join(cwd, 'src', 'a.ts'), '')
    writeFileSync(join(cwd, 'tea.txt'), 'black\n')
    const server = await chatServer(answer('Seen.'), answer('Ok.'))
    const { session } = await openTestChat({ server, cwd })
    const notices = (await sendLine(session, 'See @diff and @src/ and @session:x and @/etc/')).filter(
      ({ kind }) => kind === 'notice',
    )
    const sent = JSON.stringify(server.asked.at(-1)?.body)
    expect(sent).toContain('+black')
    expect(sent).toContain('src/a.ts')
    expect(JSON.stringify(notices)).toMatch(/@session:x: sessions cannot be read here[\s\S]*@\/etc\/: it is outside/)
    await sendLine(session, 'A mail to a@src/ or @types/node')
    expect(JSON.stringify(server.asked.at(-1)?.body.messages?.at(-1))).not.toContain('Files (read them')
  })
})

describe('/copy and /export', () => {
  test('copy the answer or its code, write Markdown and JSON, and replace nothing by accident', async () => {
    const cwd = tempFolder()
    const session = await openChat([answer('Use this:\n\n```ts\nconst a = 1\n```\n')], { cwd })
    expect(outputText(await sendLine(session, '/copy'))).toMatch(/No answer yet/)
    await sendLine(session, 'Code?')
    const copied = async (line: string) => (await sendLine(session, line)).find(({ kind }) => kind === 'clipboard')
    expect(await copied('/copy code')).toEqual({ kind: 'clipboard', text: 'const a = 1' })
    expect(await copied('/copy')).toMatchObject({ text: expect.stringContaining('Use this:') })
    await sendLine(session, '/export talk.md')
    expect(readFileSync(join(cwd, 'talk.md'), 'utf8')).toMatch(/^## Code\?\n\nUse this:/)
    expect(outputText(await sendLine(session, '/export talk.md'))).toMatch(/exists\. Add -f/)
    await sendLine(session, '/export talk.json')
    expect(JSON.parse(readFileSync(join(cwd, 'talk.json'), 'utf8'))).toMatchObject([{ prompt: 'Code?' }])
    expect(outputText(await sendLine(session, '/export talk.pdf'))).toMatch(/\.md or \.json/)
  })
})

test('--pick matches every word in title, project, agent or id', () => {
  const sessions = [
    { id: 'codex:1', agent: 'codex', title: 'Fix the kettle', project: '/w/tea' },
    { id: 'pi:2', agent: 'pi', title: 'お茶', project: '/w/coffee' },
  ] as never[]
  const ids = (words: string) =>
    matchSessions<{ id: never; agent: never; title?: string; project?: string }>(sessions, words).map(({ id }) =>
      String(id),
    )
  expect([ids('KETTLE tea'), ids('お茶'), ids('pi coffee'), ids(''), ids('kettle coffee')]).toEqual([
    ['codex:1'],
    ['pi:2'],
    ['pi:2'],
    ['codex:1', 'pi:2'],
    [],
  ])
})

test('--pick also finds sessions by what was said in them', async () => {
  const { app, write: writeLog } = testHome()
  onCleanup(() => app.close())
  writeLog(rollout('talk'), text(shortSession()))
  await app.sync()
  const { sessions } = app.list({})
  const found = async (words: string) => (await findMatching(app, sessions, words)).length
  expect(matchSessions(sessions, '"One file"').length).toBe(0)
  expect([await found('"One file"'), await found('"Two files"'), await found('')]).toEqual([1, 0, 1])
})

test('the choices of a question break between choices', () => {
  const rule = suggestRule(need({ command: 'git status' }))
  expect(renderConsentChoices('execute_bash', false, 60, rule).split('\n')).toEqual([
    '  y yes · n no · s allow "git status …" in this chat',
    '  a always in this directory',
    '  t trust execute_bash for this session',
    '  or type what to do instead',
  ])
})
