/** Where a log is says whose it is: `projects/<directory>/<session>.jsonl`, and sub-agents beside or below it. */
import { basename, dirname } from 'node:path'
import { UUID_PATTERN } from '../../model/ids.ts'

const SIDE_LOG = /[\\/]([^\\/]+)[\\/]subagents[\\/].*$/

/** The name of a log is its session's id; that of a sub-agent begins with `agent-`. */
export const nativeIdOf = (path: string): string => basename(path).replace(/\.jsonl$/i, '')

/** A sub-agent's log that stands in the folder of its session. */
export const parentInPath = (path: string): string | undefined => SIDE_LOG.exec(path)?.[1]

/** The log of the session that started a sub-agent in its folder. */
export const parentLogOf = (path: string): string => `${path.replace(/[\\/]subagents[\\/].*$/, '')}.jsonl`

const STORED_NAME = new RegExp(`^(?:${UUID_PATTERN}|agent-[^\\\\/]+)\\.jsonl$`, 'i')

/** Named as Claude Code names logs. Copies that people make have other names. */
export const isStoredLog = (path: string): boolean => STORED_NAME.test(basename(path))

export const isAgentLog = (path: string): boolean =>
  parentInPath(path) !== undefined || /^agent-[^\\/]+\.jsonl$/i.test(basename(path))

/** The folder of all logs of one directory. */
export const projectFolderOf = (path: string): string =>
  parentInPath(path) === undefined ? dirname(path) : dirname(parentLogOf(path))
