/** Builds the page into dist/web: scripts and styles as files of their own, nothing inline, nothing from elsewhere. */
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

export default defineConfig({
  root: 'src/web',
  plugins: [
    svelte({
      configFile: false,
      compilerOptions: { runes: true },
      onwarn(warning) {
        throw new Error(`${warning.filename ?? ''}: ${warning.message}`)
      },
    }),
  ],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
})
