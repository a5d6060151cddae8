// How the page is built: relative addresses, module workers, and a Content-Security-Policy.
import { defineConfig, type Plugin } from 'vite';

// What the built page may do: run its own files and WebAssembly, and nothing else.
const policy = [
  `default-src 'none'`,
  `script-src 'self' 'wasm-unsafe-eval'`,
  `style-src 'self'`,
  `img-src 'self' data: blob:`,
  `connect-src 'self'`,
  `worker-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
].join('; ');

// Only in the build: the development server puts scripts and styles into the page.
const contentSecurityPolicy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: (html) => ({
    html: html.replace(/\n\s+/g, '\n'), // indentation is a seventh of the page
    tags: [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  }),
};

export default defineConfig({
  base: './',
  plugins: [contentSecurityPolicy],
  worker: { format: 'es' },
  build: { target: 'es2022', modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
});
