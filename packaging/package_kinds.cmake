# cpack reads it once for each kind of package.
if(CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
    set(CPACK_COMPONENTS_ALL programs shared agent collector)
    set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
endif()
