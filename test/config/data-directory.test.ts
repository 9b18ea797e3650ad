import { describe, expect, test } from 'vitest'
import { dataDirectory, type HostMachine } from '../../src/config/config.ts'

const linux = (variables: HostMachine['variables'] = {}): HostMachine => ({
  platform: 'linux',
  home: '/home/me',
  variables,
})
const mac = (variables: HostMachine['variables'] = {}): HostMachine => ({
  platform: 'darwin',
  home: '/Users/me',
  variables,
})
const windows = (variables: HostMachine['variables'] = {}): HostMachine => ({
  platform: 'win32',
  home: 'C:\\Users\\me',
  variables,
})

describe('the data directory', () => {
  test.each([
    ['Linux', linux(), '/home/me/.local/share/fumibako'],
    ['Linux with a data home', linux({ XDG_DATA_HOME: '/data/me' }), '/data/me/fumibako'],
    [
      'Linux with a relative data home, which is to be ignored',
      linux({ XDG_DATA_HOME: 'data' }),
      '/home/me/.local/share/fumibako',
    ],
    ['Linux with an empty data home', linux({ XDG_DATA_HOME: '' }), '/home/me/.local/share/fumibako'],
    ['another Unix', { ...linux(), platform: 'freebsd' as const }, '/home/me/.local/share/fumibako'],
    ['macOS', mac({ XDG_DATA_HOME: '/data/me' }), '/Users/me/Library/Application Support/fumibako'],
    ['Windows', windows({ LOCALAPPDATA: 'D:\\Local' }), 'D:\\Local\\fumibako'],
    ['Windows without LOCALAPPDATA', windows(), 'C:\\Users\\me\\AppData\\Local\\fumibako'],
  ])('%s', (_, machine, directory) => {
    expect(dataDirectory(machine)).toBe(directory)
  })

  test.each([linux, mac, windows])('FUMI_HOME takes precedence unless it is empty', (machine) => {
    expect(dataDirectory(machine({ FUMI_HOME: '/elsewhere' }))).toBe('/elsewhere')
    expect(dataDirectory(machine({ FUMI_HOME: '' }))).toBe(dataDirectory(machine()))
  })
})
