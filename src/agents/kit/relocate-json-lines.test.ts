import { expect, test } from 'vitest'
import { digestWithout } from '../../lib/json/compare.ts'
import { relocateJsonLines } from './relocate-json-lines.ts'

const relocated = (text: string, from: string, to: string, size = 7): string => {
  const bytes = Buffer.from(text, 'latin1')
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, n * size + size),
  )
  return Buffer.concat([...relocateJsonLines(chunks, ['cwd', 'root'], { from, to })]).toString('latin1')
}
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

test('changes the directory and those below it in the named fields, and no other byte', () => {
  const log = [
    '{"cwd":"/home/me/app","x":1.50}',
    '{"cwd" : "/home/me/app/src","text":"cd /home/me/app \\"cwd\\":\\"/home/me/app\\""}',
    '{"cwd":"/home/me/application","root":"/home/me/app"}\r',
    '\xff not JSON "/home/me/app"',
    '{"payload":{"cwd":"/home/me/app"}}',
  ].join('\n')
  expect(relocated(log, '/home/me/app', '/w/$1 b').split('\n')).toEqual([
    '{"cwd":"/w/$1 b","x":1.50}',
    '{"cwd" : "/w/$1 b/src","text":"cd /home/me/app \\"cwd\\":\\"/home/me/app\\""}',
    '{"cwd":"/home/me/application","root":"/w/$1 b"}\r',
    '\xff not JSON "/home/me/app"',
    '{"payload":{"cwd":"/w/$1 b"}}',
  ])
})

test('finds a directory in every spelling of JSON, also of Windows', () => {
  expect(relocated(latin1('{"cwd":"/書類"}\n{"cwd":"/\\u66f8\\u985e/a"}'), '/書類', '/w')).toBe(
    '{"cwd":"/w"}\n{"cwd":"/w/a"}',
  )
  expect(relocated('{"cwd":"C:\\\\me\\\\app\\\\x"}', 'C:\\me\\app', 'D:\\ü')).toBe(latin1('{"cwd":"D:\\\\ü\\\\x"}'))
})

test('renews the seal of a line that carries records, and leaves one that was edited', () => {
  const sealed = (element: object, seal = digestWithout({ ...element }, 'x_conv')): object => ({
    ...element,
    x_conv: { src: 'codex', records: [{ seal: 'x', cwd: '/a/b' }], seal },
  })
  const [alone, payload] = [{ cwd: '/a', text: '茶' }, { cwd: '/a/src' }]
  const lines = [sealed(alone), { type: 'turn', payload: sealed(payload) }, sealed(alone, 'edited')]
  const now = relocated(latin1(lines.map((one) => JSON.stringify(one)).join('\n')), '/a', '/new')
  const [first, second, third] = Buffer.from(now, 'latin1')
    .toString()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(first).toMatchObject({
    cwd: '/new',
    x_conv: { seal: digestWithout(first, 'x_conv'), records: [{ seal: 'x' }] },
  })
  expect(second.payload).toMatchObject({ cwd: '/new/src', x_conv: { seal: digestWithout(second.payload, 'x_conv') } })
  expect(third).toMatchObject({ cwd: '/new', x_conv: { seal: 'edited' } })
})
