import fc from 'fast-check'
import { expect, test } from 'vitest'
import { overwriteLines, parseAnsi, removeAnsi } from '../../../lib/markup/ansi.ts'
import type { ToolCallItem } from '../../../model/api/message.ts'
import { callInputText, callOutputText, checklistOf } from './call-texts.ts'
import { countDiffLines, pairDiffLines, parseDiff } from './diff.ts'

const call = (more: Partial<ToolCallItem>): ToolCallItem => ({
  call_id: null,
  name: 'shell',
  status: 'success',
  gist: '',
  ...more,
})

test('terminal colours become classes and other escapes are dropped', () => {
  expect(parseAnsi('\x1b[1;31mno\x1b[0m yes\x1b[2K\x1b]0;title\x07!')).toEqual([
    { text: 'no', classNames: 'bold fg-1' },
    { text: ' yes', classNames: '' },
    { text: '!', classNames: '' },
  ])
  expect(parseAnsi('\x1b[38;5;196mred\x1b[38;2;1;2;300mown')).toEqual([
    { text: 'red', classNames: '', colour: 'rgb(255 0 0)' },
    { text: 'own', classNames: '', colour: 'rgb(1 2 255)' },
  ])
})

test('an overwritten line shows its final text', () => {
  expect(
    parseAnsi(overwriteLines('10 %\r50 %\r100 %\r\ndone'))
      .map(({ text }) => text)
      .join(''),
  ).toBe('100 %\ndone')
})

test('only escapes are removed, and class names are known', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '語', ' ', '\n', '\x1b', '[', ']', 'm', '3', ';', '\x07') }),
      (text) => {
        const stretches = parseAnsi(text)
        expect(stretches.map((one) => one.text).join('')).toBe(removeAnsi(text))
        for (const { classNames: look } of stretches) expect(look).toMatch(/^[a-z0-9 -]*$/)
      },
    ),
  )
})

const PATCH = `--- a/src/boil.ts
+++ b/src/boil.ts
*** Update File: src/boil.ts
@@ -3,3 +3,4 @@
 const a = 1
-const b = 2
+const b = 3
+const c = 4
 export {}
--- a/old.ts
+++ /dev/null
@@ -1,1 +0,0 @@
-gone
`

test('a patch is parsed into files and numbered lines', () => {
  const [first, second] = parseDiff(PATCH)
  expect(first).toMatchObject({ path: 'src/boil.ts', added: 2, removed: 1 })
  expect(first?.lines.slice(1, 4)).toEqual([
    { kind: 'same', text: 'const a = 1', before: 3, after: 3 },
    { kind: 'removed', text: 'const b = 2', before: 4 },
    { kind: 'added', text: 'const b = 3', after: 4 },
  ])
  expect(second).toMatchObject({ path: 'old.ts', added: 0, removed: 1 })
  expect(countDiffLines(PATCH)).toEqual({ added: 2, removed: 2 })
})

test('side by side, added lines are next to removed lines', () => {
  const pairs = pairDiffLines(parseDiff(PATCH)[0]?.lines ?? [])
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ['@@ -3,3 +3,4 @@', '@@ -3,3 +3,4 @@'],
    ['const a = 1', 'const a = 1'],
    ['const b = 2', 'const b = 3'],
    [undefined, 'const c = 4'],
    ['export {}', 'export {}'],
  ])
})

test('plans of several agents become one kind of checklist', () => {
  const plan = [
    { step: 'Measure', status: 'completed' },
    { step: 'Cut', status: 'in_progress' },
  ]
  expect(checklistOf(call({ name: 'update_plan', arguments_json: { plan } }))).toEqual([
    { text: 'Measure', state: 'done' },
    { text: 'Cut', state: 'doing' },
  ])
  expect(
    checklistOf(call({ name: 'todo_list', arguments_json: { tasks: [{ task_description: 'Sow', completed: true }] } })),
  ).toEqual([{ text: 'Sow', state: 'done' }])
  expect(checklistOf(call({ name: 'shell', arguments_json: { plan } }))).toBeUndefined()
  expect(checklistOf(call({ name: 'plan_trip', arguments_json: { items: [1] } }))).toBeUndefined()
})

test('commands are shown as they were typed, and output without its envelope', () => {
  expect(callInputText(call({ arguments_json: { command: ['bash', '-lc', 'ls | wc'], workdir: '/w' } }))).toBe(
    '# workdir: /w\n$ ls | wc',
  )
  expect(callInputText(call({ arguments_json: { command: ['cat', 'a b'] } }))).toBe('$ cat "a b"')
  expect(callInputText(call({ arguments_json: {} }))).toBe('')
  expect(callOutputText(call({ output_json: { output: 'ok', metadata: {} } }))).toBe('ok')
  expect(callOutputText(call({ output: 'Exit code: 1\nWall time: 4.2 seconds\nOutput:\nno\n' }))).toBe('no\n')
  expect(callOutputText(call({ output_json: { a: 1 } }))).toBe('{\n  "a": 1\n}')
})

test('a plan with unknown states is still a plan', () => {
  const plan = [{ step: 'look', status: { toString: 1, valueOf: 1 } }]
  expect(checklistOf(call({ name: 'update_plan', arguments_json: { plan } }))).toEqual([
    { text: 'look', state: 'todo' },
  ])
})
