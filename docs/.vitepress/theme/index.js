import { useData } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

/** Where the API serves the manual. A manual that is published elsewhere has no dashboard next to it. */
const BASE_OF_API = '/docs/';

/** The way back to the dashboard. A link of the navigation would stay below the base of the manual. */
const DashboardLink = {
  setup() {
    const { site } = useData();
    return () =>
      site.value.base === BASE_OF_API
        ? h('a', { class: 'dashboard-link', href: '/', target: '_self' }, 'Dashboard')
        : null;
  },
};

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'nav-bar-content-before': () => h(DashboardLink) }),
};
