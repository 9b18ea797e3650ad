import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { FileChangeCollector } from './file-changes.ts'

let calls = 0
const message = (source_type: string, tool_call: object): NormalizedMessage =>
  ({ id: `m${++calls}`, source_type, role: 'tool', segments: [], tool_call, raw: {} }) as unknown as NormalizedMessage
const call = (name: string, args: object, id = `c${calls}`): NormalizedMessage =>
  message('tool_call', {
    call_id: id,
    name,
    status: 'pending',
    arguments: JSON.stringify(args),
    arguments_json: args,
  })
const edit = (old_string: string, new_string: string, file_path = 'a.ts') =>
  call('Edit', { file_path, old_string, new_string })

function changesOf(...messages: readonly NormalizedMessage[]) {
  const collector = new FileChangeCollector('/work')
  for (const one of messages) collector.add(one)
  return collector.files()
}
const linesOf = (diff: string): readonly string[] => diff.split('\n').slice(2)

describe('changes of a session', () => {
  test('put edits of the same lines together', () => {
    const [file] = changesOf(edit('let a = 1', 'let a = 2'), edit('let a = 2', 'const a = 2'))
    expect(file).toMatchObject({ path: '/work/a.ts', added: 1, removed: 1, is_complete: true })
    expect(linesOf(file?.diff ?? '')).toEqual(['@@', '-let a = 1', '+const a = 2'])
    expect(file?.calls).toHaveLength(2)
  })

  test('contain nothing where a later edit takes an earlier one back', () => {
    const [file] = changesOf(edit('one', 'two'), edit('two', 'one'))
    expect(file).toMatchObject({ diff: '', added: 0, removed: 0 })
  })

  test('join with a larger edit around them', () => {
    const [file] = changesOf(edit('b', 'B'), edit('a\nB\nc', 'a\nX\nc'))
    expect(linesOf(file?.diff ?? '')).toEqual(['@@', ' a', '-b', '+X', ' c'])
  })

  test('of a written file are the file as it was last', () => {
    const write = (content: string) => call('Write', { file_path: 'n.md', content })
    const [file] = changesOf(write('a\nb\nc'), edit('b', 'B', 'n.md'), write('a\nB\nd'))
    expect(linesOf(file?.diff ?? '')).toEqual(['@@', '+a', '+B', '+d'])
  })

  test('leave out calls that failed', () => {
    const failed = call('Edit', { file_path: 'a.ts', old_string: 'x', new_string: 'y' }, 'failing')
    const result = message('tool_result', { call_id: 'failing', name: 'Edit', status: 'error' })
    expect(changesOf(failed, result)).toEqual([])
  })

  test('understand patches, and file names relative to the directory', () => {
    const input =
      '*** Begin Patch\n*** Update File: src/a.ts\n@@ f\n one\n-two\n+2\n*** Add File: new.ts\n+x\n*** End Patch'
    const patch = message('tool_call', { call_id: 'p', name: 'apply_patch', status: 'pending', input })
    const again = message('tool_call', {
      call_id: 'q',
      name: 'apply_patch',
      status: 'pending',
      input: '*** Begin Patch\n*** Update File: /work/src/a.ts\n@@\n one\n-2\n+zwei\n*** End Patch',
    })
    const files = changesOf(patch, again)
    expect(files.map(({ path, how }) => [path, ...how])).toEqual([
      ['/work/src/a.ts', 'updated'],
      ['/work/new.ts', 'added'],
    ])
    expect(linesOf(files[0]?.diff ?? '')).toEqual(['@@', ' one', '-two', '+zwei'])
  })

  test('of a known file are the difference between its first and its last state', () => {
    const line = fc.constantFrom('a', 'b', 'c', 'd')
    const steps = fc.array(fc.tuple(fc.nat(20), fc.nat(3), fc.array(line, { maxLength: 3 })), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), steps, (first, changes) => {
        // Numbered, so that each edit fits one place only.
        let serial = 0
        const number = (lines: readonly string[]): string[] => lines.map((one) => `${one}${serial++}`)
        let now = number(first)
        const written = call('Write', { file_path: 'f', content: now.join('\n') })
        const messages = [written]
        for (const [at, length, lines] of changes) {
          if (now.length === 0) break
          const start = at % now.length
          const old = now.slice(start, start + length + 1)
          const fresh = number(lines)
          messages.push(edit(old.join('\n'), fresh.join('\n'), 'f'))
          now = [...now.slice(0, start), ...fresh, ...now.slice(start + old.length)]
        }
        const [file] = changesOf(...messages)
        expect(linesOf(file?.diff ?? '').filter((one) => one.startsWith('+'))).toEqual(now.map((one) => `+${one}`))
        expect(file?.removed).toBe(0)
      }),
      { numRuns: 30 },
    )
  })
})
