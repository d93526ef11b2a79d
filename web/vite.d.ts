/** The URL of a script that the bundler builds for a worker. */
declare module '*?worker&url' {
  const url: string;
  export default url;
}
