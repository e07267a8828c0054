import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where the development server sends calls of the API. */
const SERVER = process.env.SCRAPIFIE_URL ?? 'http://127.0.0.1:3000';

export default defineConfig(({ command }) => ({
  plugins: [react()],
  define: { __DEV_ROUTES__: JSON.stringify(command === 'serve' || process.env.SCRAPIFIE_KIT === '1') },
  build: {
    target: 'es2023',
    sourcemap: false,
    modulePreload: { polyfill: false },
    // An inlined asset would need `data:` in more places of the Content-Security-Policy.
    assetsInlineLimit: 0,
    manifest: true,
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/dashboard', '/healthz', '/readyz', '/metrics', '/docs', '/help'].map((path) => [
        path,
        // The server compares the origin of the page with the name that it is called by.
        { target: SERVER, changeOrigin: false },
      ]),
    ),
  },
}));
