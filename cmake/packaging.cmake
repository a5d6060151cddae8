# What `cmake --install` adds to a service of a machine, and the Debian package: cpack -G DEB.
include(GNUInstallDirs)

set(deploy ${PROJECT_SOURCE_DIR}/server/deploy)
# The page, if it has been built by the time of the install; `dpcache serve` finds it there.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/web/dist/ DESTINATION ${CMAKE_INSTALL_DATADIR}/dpcache/page
  COMPONENT runtime OPTIONAL)
install(FILES ${deploy}/dpcache.service DESTINATION lib/systemd/system COMPONENT runtime)
install(FILES ${deploy}/dpcache.default ${PROJECT_SOURCE_DIR}/docs/deploy.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
# What stands outside the prefix is the package's alone.
install(FILES ${deploy}/dpcache.default DESTINATION ../etc/default RENAME dpcache
  COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright
  COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dpcache)
set(CPACK_PACKAGE_CONTACT "the dpcache authors <dpcache@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_COMPONENTS_ALL runtime debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${PROJECT_DESCRIPTION}
 It opens a slot only for what is new, merges what it has seen, and answers
 queries by attention over its slots. The command line, and the REST server as
 a service that waits to be enabled.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${deploy}/debian/conffiles ${deploy}/debian/postinst ${deploy}/debian/prerm ${deploy}/debian/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
find_program(DPCACHE_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(DPCACHE_SHLIBDEPS)
if(DPCACHE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
