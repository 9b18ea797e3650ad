/** The command uses the language of its terminal, or the one set explicitly. */
import { describe, expect, test } from 'vitest'
import { fumi } from '../support/run-fumi.ts'

const first = (text: string): string => text.split('\n')[0] ?? ''

describe('language', () => {
  test('is that of the terminal', () => {
    expect(first(fumi(['--help'], { env: { LC_ALL: 'ja_JP.UTF-8' } }).out)).toBe('使い方: fumi [command] [options]')
    expect(first(fumi(['--help'], { env: { LC_ALL: '', LC_MESSAGES: '', LANG: 'ja_JP.UTF-8' } }).out)).toMatch(
      /^使い方/,
    )
    expect(first(fumi(['--help'], { env: { LC_ALL: 'de_DE.UTF-8', LANG: 'ja_JP.UTF-8' } }).out)).toMatch(/^Usage/)
  })

  test('is the configured one', () => {
    const env = { LC_ALL: 'ja_JP.UTF-8', FUMI_LANGUAGE: 'en' }
    expect(fumi(['list', '--sort', 'x'], { env }).err).toContain('Available: last')
    expect(fumi(['list', '--set', 'language=ja', '--sort', 'x'], { env }).err).toContain('使えるのは last')
  })

  test('option errors use it', () => {
    const env = { LC_ALL: 'ja_JP.UTF-8' }
    expect(fumi(['show'], { env }).err).toContain('fumi: 引数 <session> が必要です。')
    expect(fumi(['list', '--lmit'], { env }).err).toMatch(
      /fumi: オプション「--lmit」はありません。 もしかして: --limit/,
    )
  })
})
