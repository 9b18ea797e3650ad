/** execute_bash in a real shell. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { OutputPiece } from '../../../src/chat/tools/tool.ts'
import { textIn, toolProject } from './tool-project.ts'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    const status = `/proc/${pid}/status`
    return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, 'utf8'))
  } catch {
    return false
  }
}
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe.skipIf(process.platform === 'win32')('execute_bash', () => {
  test('gives exit status and both streams; a failing command is still a result', async () => {
    const at = toolProject()
    const ran = await at.run('execute_bash', { command: 'pwd; echo no >&2; exit 3' })
    expect(ran).toMatchObject({ status: 'Success', images: [], changedFiles: [] })
    expect(ran.content).toEqual([{ Json: { exit_status: '3', stdout: `${at.cwd}\n`, stderr: 'no\n' } }])
    const killed = await at.run('execute_bash', { command: 'kill -9 $$' })
    expect(killed.content).toEqual([{ Json: { exit_status: '137', stdout: '', stderr: '' } }])
  })

  test('has no standard input', async () => {
    const ran = await toolProject().run('execute_bash', { command: 'read answer; echo "[$answer]"' })
    expect(ran.content).toMatchObject([{ Json: { stdout: '[]\n' } }])
  })

  test('long output is cut at a character, and hidden characters are removed', async () => {
    const at = toolProject()
    const ran = await at.run('execute_bash', { command: "yes 会話 | head -c 200000; printf 'a\\u200bb' >&2" })
    const { stdout, stderr } = (ran.content[0] as { Json: { stdout: string; stderr: string } }).Json
    expect(stdout.endsWith(' ... truncated')).toBe(true)
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(133_333 + ' ... truncated'.length)
    expect(stdout).not.toContain('\ufffd')
    expect(stderr).toBe('ab')
  })

  test('output is streamed', async () => {
    const pieces: OutputPiece[] = []
    await toolProject().run(
      'execute_bash',
      { command: 'echo out; echo err >&2' },
      { onOutput: (one) => pieces.push(one) },
    )
    expect(pieces.toSorted((a, b) => (a.stream < b.stream ? -1 : 1))).toEqual([
      { stream: 'stderr', text: 'err\n' },
      { stream: 'stdout', text: 'out\n' },
    ])
  })

  test('an abort kills the command and everything it started', async () => {
    const at = toolProject()
    const ending = new AbortController()
    const command = 'sleep 1000 & echo $! > pid; (trap "" TERM; sleep 1000 & echo $! > deaf; wait) & echo begun; wait'
    const running = at.run('execute_bash', { command }, { signal: ending.signal })
    await until(() => existsSync(join(at.cwd, 'deaf')) && at.read('deaf') !== '' && at.read('pid') !== '')
    const pids = ['pid', 'deaf'].map((name) => Number(at.read(name)))
    expect(pids.map(isAlive)).toEqual([true, true])
    ending.abort()
    const ran = await running
    expect([ran.status, textIn(ran)]).toEqual(['Error', expect.stringContaining('The user interrupted the tool')])
    expect(textIn(ran)).toContain('begun')
    await until(() => !pids.some(isAlive))
    expect(await at.run('execute_bash', { command: 'touch no' }, { signal: ending.signal })).toMatchObject({
      status: 'Error',
    })
    expect(existsSync(join(at.cwd, 'no'))).toBe(false)
  })

  test('a command does not outlive the program that waits for it', async () => {
    const at = toolProject()
    const tool = join(import.meta.dirname, '../../../dist/chat/tools/shell/execute-bash.js')
    const script = `
      import { createExecuteBash } from ${JSON.stringify(tool)}
      const place = { cwd: ${JSON.stringify(at.cwd)}, home: '/', signal: new AbortController().signal }
      const { call } = await createExecuteBash().check({ command: 'echo $$; sleep 1000' }, place)
      call.run({ ...place, onOutput: ({ text }) => { process.stdout.write(text, () => process.exit(0)) } })`
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(Number(out)).toBeGreaterThan(1)
    await until(() => !isAlive(Number(out)))
  })

  test('a background process does not delay the result', async () => {
    const at = toolProject()
    const ran = await at.run('execute_bash', { command: 'sleep 1000 & echo $!' })
    const { stdout } = (ran.content[0] as { Json: { stdout: string } }).Json
    expect(isAlive(Number(stdout))).toBe(true)
    process.kill(Number(stdout))
  })

  test('a missing folder is reported', async () => {
    const at = toolProject()
    const ran = await at.run('execute_bash', { command: 'ls' }, { cwd: join(at.cwd, 'gone') })
    expect([ran.status, textIn(ran)]).toEqual(['Error', expect.stringContaining('could not be started')])
  })

  test.each([
    ['ls | head', 'read-only'],
    ['npm test', 'changes'],
    ['rm -rf x', 'dangerous'],
  ])('%s is %s', async (command, level) => {
    const { need } = await toolProject().check('execute_bash', { command, summary: 'why' })
    expect(need).toMatchObject({ level, command, summary: { en: `run ${command}: why` } })
  })

  test('an empty command is refused', async () => {
    await expect(toolProject().check('execute_bash', { command: ' ' })).rejects.toThrow('must not be empty')
  })
})
