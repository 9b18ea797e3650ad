/** The line editor of prompts: keys in, text out. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CompletionData, findCompletions } from '../../../src/cli/chat/input/completions.ts'
import { Editor, type EditorAction, type EditorOptions, toTextLine } from '../../../src/cli/chat/input/editor.ts'
import { decodeKeys, type TerminalKey } from '../../../src/cli/chat/input/keys.ts'
import { layOutPrompt, PromptArea, visibleRows } from '../../../src/cli/chat/input/prompt-area.ts'
import { PromptHistory } from '../../../src/cli/chat/input/prompt-history.ts'

const ESC = '\u001b'
const ALT_ENTER = `${ESC}\r`
const LEFT = `${ESC}[D`
const UP = `${ESC}[A`
const DOWN = `${ESC}[B`
const BACK = '\u007f'
const paste = (text: string): string => `${ESC}[200~${text}${ESC}[201~`
const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96)

/** The resulting line, with the cursor as a bar, and the action of the last key. */
function typed(input: string, options: EditorOptions = {}): { shown: string; action: EditorAction; editor: Editor } {
  const editor = new Editor(options)
  let action: EditorAction = { kind: 'none' }
  for (const key of decodeKeys(input).keys) action = editor.press(key)
  const { text, at } = editor.line
  return { shown: `${text.slice(0, at)}|${text.slice(at)}`, action, editor }
}

describe('typing', () => {
  test.each([
    ['letters of any kind', 'aé日本👩‍🚀', 'aé日本👩‍🚀|'],
    ['back over what a reader takes for one letter', `a👩‍🚀${BACK}`, 'a|'],
    ['left over a letter with its accent', `xe\u0301${LEFT}`, 'x|e\u0301'],
    ['words are jumped over', `one two-three${ESC}b${ESC}b`, 'one |two-three'],
    ['a chunk is cut and put in again', `git add file.ts${ctrl('w')}${ctrl('a')}${ctrl('y')}`, 'file.ts|git add '],
    ['a line is cut from the cursor on', `abc${LEFT}${LEFT}${ctrl('k')}`, 'a|'],
    ['home and end stay in their line', `one${ALT_ENTER}two${ctrl('a')}x${ctrl('e')}y`, 'one\nxtwoy|'],
    ['up and down keep the column', `first${ALT_ENTER}ab${UP}x${DOWN}y`, 'fixrst\naby|'],
    ['Ctrl-J is a new line', `a${ctrl('j')}b`, 'a\nb|'],
    ['a backslash at the end asks for another line', 'a\\\rb', 'a\nb|'],
    ['Shift+Enter where a terminal tells it', `a${ESC}[13;2ub`, 'a\nb|'],
    ['Ctrl-C clears', `abc${ctrl('c')}`, '|'],
    ['a chunk is cut behind a very long one', `${'x'.repeat(100_000)} y${ctrl('w')}`, `${'x'.repeat(100_000)} |`],
    ['a word is cut behind a very long one', `${'x'.repeat(100_000)} y𠮷${ESC}${BACK}`, `${'x'.repeat(100_000)} |`],
    ['a key with a number that no letter has is nothing', `a${ESC}[9999999;5ub`, 'ab|'],
    ['unknown sequences are nothing', `a${ESC}[?1;2c${ESC}[99~${ESC}OPb`, 'ab|'],
  ])('%s', (_, input, shown) => {
    expect(typed(input).shown).toBe(shown)
  })

  test('Enter sends, Ctrl-D ends an empty line and deletes in others, Ctrl-C twice asks to leave', () => {
    expect(typed('hello\r').action).toEqual({ kind: 'submit', text: 'hello' })
    expect(typed(ctrl('d')).action).toEqual({ kind: 'end' })
    expect(typed(`ab${LEFT}${ctrl('d')}`)).toMatchObject({ shown: 'a|', action: { kind: 'none' } })
    expect(typed(`a${ctrl('c')}${ctrl('c')}`).action).toEqual({ kind: 'interrupt' })
  })

  test('a paste stays complete, sends nothing, and loses escape sequences', () => {
    const { shown, action } = typed(paste('one\r\ntwo\rthree\t\u001b[31mred\u001b[0m'))
    expect(shown).toBe('one\ntwo\nthree\tred|')
    expect(action).toEqual({ kind: 'none' })
  })

  test('an image dropped onto the terminal is attached', () => {
    expect(typed(paste("'/home/mika/my shot.PNG' ")).shown).toBe('@"/home/mika/my shot.PNG" |')
    expect(typed(paste('/home/mika/my\\ shot\\(1\\).png')).shown).toBe('@"/home/mika/my shot(1).png" |')
    expect(typed(paste('file:///tmp/a%20b.pdf')).shown).toBe('@"/tmp/a b.pdf" |')
    expect(typed(paste('/home/mika/notes and a.png')).shown).toBe('/home/mika/notes and a.png|')
  })

  test('keys are recognized however bytes are split', () => {
    const piece = fc.constantFrom(
      'a',
      '日',
      UP,
      LEFT,
      ALT_ENTER,
      '\r',
      ctrl('c'),
      paste('x\ny'),
      `${ESC}[1;5C`,
      `${ESC}Ob`,
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 5 }), (pieces, cuts) => {
        const input = pieces.join('')
        const keys: TerminalKey[] = []
        let rest = ''
        let from = 0
        for (const to of [...cuts.filter((one) => one < input.length).sort((a, b) => a - b), input.length]) {
          const decoded = decodeKeys(rest + input.slice(from, to))
          keys.push(...decoded.keys)
          rest = decoded.rest
          from = to
        }
        expect(rest).toBe('')
        expect(joined(keys)).toEqual(joined(decodeKeys(input).keys))
      }),
    )
  })
})

const joined = (keys: readonly TerminalKey[]): string =>
  keys.map((key) => (key.kind === 'key' ? `<${key.name}>` : `${key.text}`)).join('')

describe('input history', () => {
  const recall = (): PromptHistory => new PromptHistory(['Write a test', 'git status', 'two\nlines'])

  test('is recalled with Up line by line, and the current input is preserved', () => {
    expect(typed(`new${UP}${UP}${UP}`, { history: recall() }).shown).toBe('git status|')
    expect(typed(`new${UP}${UP}${UP}${DOWN}${DOWN}`, { history: recall() }).shown).toBe('new|')
    expect(typed(`${UP}${UP}${UP}${UP}${UP}${UP}`, { history: recall() }).shown).toBe('Write a test|')
  })

  test('is searched with Ctrl-R, the next match with Ctrl-R again; Enter sends it, Ctrl-G cancels', () => {
    const all = new PromptHistory(['make one', 'other', 'make two'])
    expect(typed(`${ctrl('r')}mak`, { history: all }).editor.line.text).toBe('make two')
    expect(typed(`${ctrl('r')}mak${ctrl('r')}`, { history: all }).editor.line.text).toBe('make one')
    expect(typed(`${ctrl('r')}mak${ctrl('r')}${ctrl('r')}\r`, { history: all }).action).toEqual({
      kind: 'submit',
      text: 'make one',
    })
    expect(typed(`draft${ctrl('r')}mak${ctrl('g')}`, { history: all }).shown).toBe('draft|')
    expect(typed(`${ctrl('r')}nowhere`, { history: all }).editor.search).toEqual({ words: 'nowhere', isFound: false })
  })
})

describe('Tab', () => {
  const known: CompletionData = {
    agents: () => ['careful', 'quick'],
    rules: () => ['README.md'],
    tags: () => ['0', '1', '2'],
    models: () => ['qwen3', 'gpt-5'],
    tools: () => ['fs_read', 'fs_write'],
    prompts: () => [{ name: 'review', note: 'project' }],
    resources: () => [],
    files: (folder) => {
      const names: { [folder: string]: readonly string[] } = {
        '': ['\u001b]0;x\u0007evil', '.git/', 'my notes.md', 'notes.md', 'src/', 'srv.txt'],
        'src/': ['app.ts', 'cli/'],
      }
      return (names[folder] ?? []).map((name) => ({ name: name.replace(/\/$/, ''), isFolder: name.endsWith('/') }))
    },
  }
  const tab = (input: string) => typed(`${input}\t`, { complete: (line) => findCompletions(line, known) })

  test.each([
    ['/tan', '/tangent |'],
    ['/tangent ta', '/tangent tail |'],
    ['/agent swap ca', '/agent swap careful |'],
    ['/checkpoint restore 2', '/checkpoint restore 2 |'],
    ['/tools trust fs_w', '/tools trust fs_write |'],
    ['/context remove R', '/context remove README.md |'],
    ['/load src/a', '/load src/app.ts |'],
    ['look at @src/c', 'look at @src/cli/|'],
    ['look at @no', 'look at @notes.md |'],
    ['look at @my', 'look at @"my notes.md" |'],
    ['look at @"my n', 'look at @"my notes.md" |'],
    ['@rev', '@review |'],
    ['@.g', '@.git/|'],
    ['no command /tan', 'no command /tan|'],
    ['/home/mi', '/home/mi|'],
  ])('after %s', (input, shown) => {
    expect(tab(input).shown).toBe(shown)
  })

  test('shows the choices and inserts their common prefix', () => {
    const { shown, editor } = tab('read @s')
    expect(shown).toBe('read @sr|')
    expect(
      tab('read @')
        .editor.completions.map(({ text }) => text)
        .join(),
    ).not.toContain('evil')
    expect(editor.completions.map(({ text }) => text)).toEqual(['@src/', '@srv.txt'])
    expect(tab('/co').editor.completions[0]).toMatchObject({
      text: '/compact',
      note: expect.stringContaining('summarize'),
    })
  })
})

describe('rows', () => {
  test('wide characters take two columns and are not split at the edge', () => {
    const { rows, row, column } = layOutPrompt('> ', toTextLine('日本語の文章です'), 13)
    expect(rows).toEqual(['> 日本語の文', '章です'])
    expect({ row, column }).toEqual({ row: 1, column: 6 })
  })

  test('the cursor is at the position of the next character', () => {
    expect(layOutPrompt('> ', { text: 'ab\ncd', at: 3 }, 40)).toEqual({ rows: ['> ab', '  cd'], row: 1, column: 2 })
    expect(layOutPrompt('> ', { text: 'abcdefgh', at: 5 }, 9)).toMatchObject({ row: 0, column: 7 })
    expect(layOutPrompt('> ', { text: 'abcdefgh', at: 6 }, 9)).toMatchObject({ row: 1, column: 0 })
  })

  test('a text taller than the screen is shown around the cursor', () => {
    const layout = layOutPrompt('> ', toTextLine(Array.from({ length: 50 }, (_, n) => `line ${n}`).join('\n')), 40)
    expect(visibleRows(layout, 5)).toMatchObject({ rows: expect.arrayContaining(['  line 49']), row: 4 })
    expect(visibleRows(layout, 5).rows).toHaveLength(5)
  })

  test('redrawing starts at the first row, also in a narrower terminal', () => {
    const area = new PromptArea('> ')
    const editor = typed(`${'x'.repeat(30)}${ALT_ENTER}y`).editor
    expect(area.draw(editor, { columns: 80, rows: 24 })).toMatch(/^\r\u001b\[J> x{30}\r\n {2}y/)
    expect(area.draw(editor, { columns: 80, rows: 24 })).toMatch(/^\r\u001b\[1A\u001b\[J/)
    expect(area.draw(editor, { columns: 20, rows: 24 })).toMatch(/^\r\u001b\[2A\u001b\[J/)
  })
})
