/** Links and anchors of README and documents: `npm run lint:docs`. */
export default {
  plugins: ['remark-gfm', ['remark-validate-links', { repository: false }]],
};
