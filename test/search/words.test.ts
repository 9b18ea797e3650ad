/** Which queries match which texts, with a real index and without. */
import { describe, expect, test } from 'vitest'
import { matchesQuery } from '../../src/search/matching.ts'
import { analyse } from '../../src/search/words/analyse.ts'
import { queryOf, tableOf } from './full-text-table.ts'

/** A text, queries that match it, and queries that do not. */
type Case = readonly [text: string, found: readonly string[], missed: readonly string[]]

function check(cases: readonly Case[]): void {
  test.each(cases)('%s', (text, found, missed) => {
    const table = tableOf(text)
    const inText = (input: string): boolean => matchesQuery(queryOf(input), { prompt: text })
    expect(found.filter((input) => !table.has(input) || !inText(input))).toEqual([])
    expect(missed.filter((input) => table.has(input) || inText(input))).toEqual([])
  })
}

describe('Japanese', () => {
  check([
    [
      '東京都庁',
      ['東', '京', '都', '庁', '東京', '京都', '都庁', '東京都', '京都庁', '東京都庁'],
      ['東都', '京庁', '庁東', '東京都庁舎'],
    ],
    ['東京、京都', ['東京', '京都', '"東京 京都"', '東京 京都'], ['東京京都', '東京都', '京京']],
    ['会話履歴を検索する', ['会話', '履歴', '検索', '歴を検', 'する', 'る'], ['会履', '会話を', '検 した']],
    ['サーバーとサーバ', ['サーバー', 'サーバ', 'ー', 'バー'], ['サバ', 'ーサ']],
    ['人々、ゝ〆切、二〇二六年', ['々', '人々', '〆切', '二〇二六', '〇'], ['々人']],
    ['ﾌｧｲﾙ ﾊﾟｽ ｶﾞｷﾞ', ['ファイル', 'パス', 'ガギ', 'ﾌｧｲﾙ', 'パ', 'ギ'], ['ハス', 'カキ', 'ハ']],
    ['ＡＢＣ１２３　ｆｏｏ：ｂａｒ', ['abc123', 'ABC', 'foo', 'bar', 'ｆｏｏ'], ['ab', 'foobar']],
    ['か\u3099く', ['がく', 'が', 'か\u3099く'], ['かく', 'か']],
    ['㍿と㈱と㌔', ['株式会社', '株', 'キロ', '会社と'], ['会と']],
    ['葛\u{e0100}城と辻\u{e0101}さん', ['葛城', '葛', '辻さん', '葛\u{e0100}城'], ['城さ']],
    ['𠮷野家と𩸽𠮟る', ['𠮷', '𠮷野', '野家', '𩸽', '𩸽𠮟', '𠮟る', '𠮷野家と𩸽'], ['𠮷家', '𩸽る']],
    ['𰻝𰻝麺', ['𰻝', '𰻝𰻝', '𰻝麺', '𰻝𰻝麺'], ['𰻝𰻝𰻝']],
    [
      'ReactでAPIを呼ぶ',
      ['react', 'API', 'reactで', 'でAPI', 'apiを呼ぶ', 'ReactでAPIを'],
      ['rea', 'reactを', 'でAP', 'Reactを呼ぶ'],
    ],
    ['v2対応', ['v2', '対応', 'v2対', 'v2対応'], ['v', '2対応']],
    ['「東京」', ['東京', '「東京」', '『東京』'], []],
    ['東京', ['東京*', '"東京"', '東*'], []],
  ])
})

describe('Chinese, Korean and other scripts', () => {
  check([
    ['我们在北京大学学习', ['北京', '大学', '学', '京大', '学学习'], ['北大', '京学']],
    ['한글을 검색합니다', ['한글', '글을', '한', '검색', '색합', '합니다'], ['을검', '한을']],
    ['\u1112\u1161\u11ab글', ['한글', '한'], ['하']],
    ['ㄅㄆㄇ', ['ㄅ', 'ㄆㄇ'], ['ㄅㄇ']],
    ['ꆈꌠꉙ', ['ꆈ', 'ꌠꉙ'], ['ꆈꉙ']],
    ['ภาษาไทยง่าย', ['ภาษา', 'ไทย', 'ง่าย', 'ษาไ'], ['ภาไทย', 'งาย']],
    ['हिन्दी में', ['हिन्दी', 'में', 'हि*'], ['हिन्द', 'हन्दी']],
    ['Ça va, Élodie? naïve', ['ca', 'élodie', 'ELODIE', 'naive', 'e\u0301lodie'], ['c', 'elo']],
    ['Σίσυφος ΟΔΟΣ', ['σίσυφος', 'οδος', 'ΟΔΟΣ', 'οδοσ'], ['σισυφος']],
    ['Москва МОСКВА', ['москва'], ['моск']],
    ['שָׁלוֹם', ['שָׁלוֹם'], ['שלו']],
  ])
})

describe('emoji and invisible characters', () => {
  check([
    ['done ✅ go🚀now', ['✅', '🚀', 'go🚀', '🚀now', '"done ✅ go"'], ['❌', 'gonow', '🚀go']],
    ['👩‍💻 and 👍🏽', ['👩', '💻', '👩‍💻', '👍', '👍🏽'], ['👩🏽', '💻👩']],
    ['❤️', ['❤', '❤️'], ['♥']],
    ['🇯🇵', ['🇯🇵'], ['🇵🇯']],
    ['so\u00adft zero\u200bwidth \ufeffbom', ['soft', 'zerowidth', 'bom'], ['so', 'zero']],
    ['one\0two\u{f0041}three\ue0b0four', ['one', 'two', 'three', 'four'], ['onetwo']],
    ['lone \ud83d half \udc00 end', ['lone', 'half', '"half end"'], ['lonehalf']],
  ])
})

describe('identifiers', () => {
  check([
    [
      'const x = getUserName(id)',
      [
        'getUserName',
        'getusername',
        'get',
        'user',
        'NAME',
        'userName',
        'user_name',
        '"user name"',
        'getUser*',
        'getUs*',
        '"x = getUserName(id"',
      ],
      ['username', 'getname', 'ser', 'namex', '"name id"'],
    ],
    [
      'exit_code: max_output_tokens',
      ['exit_code', 'exit', 'code', 'exitCode', 'exit-code', 'output_tokens', 'maxOutput*', 'max_output_tokens'],
      ['exitcode', 'codemax', 'max_tokens'],
    ],
    [
      'HTTPServer XMLHttpRequest URLs APIs',
      ['http', 'server', 'httpserver', 'xml', 'request', 'HttpRequest', 'urls', 'apis'],
      ['url', 'httpxml', '"server xml"'],
    ],
    [
      'kebab-case-name dotted.path.Name',
      ['kebab-case', 'case', 'case-name', 'path', 'dotted.path', 'path.name'],
      ['casename', 'kebab-name'],
    ],
    ['sha256sum utf8 base64', ['sha256sum', 'sha', '256', 'sum', 'utf8', 'utf', 'base64', 'base'], ['sha25', '64sum']],
    [
      'JavaScript and GitHub',
      ['javascript', 'github', 'java', 'script', 'Java*', '"javascript and github"'],
      ['scriptand', '"script and"'],
    ],
    [
      '__init__ _private $el @scope/pkg #tag',
      ['__init__', 'init', '_private', 'private', '$el', 'el', '@scope/pkg', 'scope', '#tag'],
      ['initprivate'],
    ],
    ['größeÄndern', ['größeändern', 'größe', 'ändern', 'andern'], ['größeä', 'gro']],
    ['aXbYcZ', ['axbycz'], ['xb']],
  ])
})

describe('numbers, codes, paths', () => {
  check([
    [
      '550e8400-e29b-41d4-a716-446655440000',
      ['550e8400-e29b-41d4-a716-446655440000', '550e8400', '446655440000', '550e8400-e29b*'],
      ['550e', 'e29b-a716'],
    ],
    [
      'commit deadbeef12ab34cd56ef7890aa',
      ['deadbeef12ab34cd56ef7890aa', 'deadbeef*', 'deadbeef12*'],
      ['deadbeef', 'beef'],
    ],
    [
      'error TS2345, E0308, ENOENT, 0x80070005',
      ['TS2345', 'ts', '2345', 'e0308', 'E0308', 'enoent', '0x80070005'],
      ['0308', 'ENO'],
    ],
    ['took 1,234.56 ms (-42)', ['1,234.56', '1,234', '"-42"', '42', '234.56'], ['1234', '1.56']],
    ['v1.2.3-rc.4', ['v1.2.3', '2.3', 'rc.4', 'v1.2.3-rc.4'], ['1.3', 'v1.3']],
    [
      'at /usr/local/lib/node_modules/x.js:12:34',
      ['/usr/local', 'local/lib', 'node_modules', 'x.js:12:34', '"x.js:12"', 'modules/x.js'],
      ['usr/lib', 'x.ts'],
    ],
    [
      'see https://example.com/a/b?q=1&r=two#frag',
      ['https://example.com/a/b', 'example.com', 'q=1', 'r=two', 'frag'],
      ['example.org'],
    ],
    ['C:\\Users\\Me\\file.txt', ['C:\\Users\\Me', 'users', 'file.txt'], ['users\\file']],
    ['--force --no-verify', ['--force', 'no-verify', '"--force"'], ['noverify']],
  ])
})

test('an analysed text ends with the parts of its identifiers', () => {
  const text = 'const getUserName = exit_code + sha256(HTTPServer) // a1b2c3'
  expect(analyse(text)).toBe(
    'const getusername exit code sha256 httpserver a1b2c3  _ get User Name _ sha 256 _ HTTP Server',
  )
})

test('an identifier that occurs a thousand times adds its parts once', () => {
  expect(analyse('getUserName '.repeat(1000)).match(/ _ get User Name/g)).toHaveLength(1)
})
