/** Checks what callers without TypeScript pass, so that they read what is wrong instead of a TypeError from inside. */

import { AppError } from '../../model/error.ts'

function wrongArgument(what: string, expected: string, expectedJa: string): AppError {
  return new AppError('bad_usage', `${what} must be ${expected}.`, `${what} には${expectedJa}を指定してください。`)
}

export function requireText(value: unknown, what: string): void {
  if (typeof value !== 'string') throw wrongArgument(what, 'a string', '文字列')
}

export function requireList(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw wrongArgument(what, 'an array', '配列')
}

export function requireMachine(value: unknown, what: string): void {
  const { platform, cwd } = fieldsOfAny(value)
  if (typeof platform !== 'string' || typeof cwd !== 'function')
    throw wrongArgument(
      what,
      'an object with platform and cwd(), such as processEnvironment',
      'processEnvironment のように platform と cwd() を持つオブジェクト',
    )
}

export function requireEnvironment(value: unknown, what: string): void {
  const { platform, cwd, now } = fieldsOfAny(value)
  if (typeof platform !== 'string' || typeof cwd !== 'function' || typeof now !== 'function')
    throw wrongArgument(
      what,
      'an object with platform, cwd() and now(), such as processEnvironment',
      'processEnvironment のように platform、cwd()、now() を持つオブジェクト',
    )
}

export function requireGit(value: unknown, what: string): void {
  if (typeof value !== 'function') throw wrongArgument(what, 'a function, such as runGit', 'runGit のような関数')
}

/** Unlike `fieldsOf`, it also reads getters and accepts a missing value. */
const fieldsOfAny = (value: unknown): { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null ? (value as { readonly [key: string]: unknown }) : {}
